"""The trainer process: one training from request to last event.

`run_training` is the whole life of the process. `TrainingSetup` loads the images while TensorFlow
is imported and completes the configuration; then `RunStarted` is logged. `Training` runs the
phases. What follows the last step can be skipped (`AfterTraining`): calibration comes before the
test, so that the test's answers are calibrated; then ONNX Runtime is compared with TensorFlow, the
test is made, and robustness is measured where the project has tests for it. A completed run keeps
the checkpoint of its end, to be trained longer.
"""
