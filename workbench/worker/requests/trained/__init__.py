"""Requests that find something out about a trained model: evaluate, calibrate, explain, measure
its robustness, show its layers, map its images.

Their messages are in `workbench.protocol.trained`, the computation in `worker.saved_models`,
`worker.explain` and `worker.feature_maps`.
"""
