"""What is found out about a trained model: its scores, its calibration, why it answers so."""
