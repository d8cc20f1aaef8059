"""What is found out about a trained model: its scores, its calibration, why it answers so.

Here are the messages; the handlers are in the package of the same name in `worker.requests`.
Window and terminal write a layer's figures as the same table (`channel_table`).
"""
