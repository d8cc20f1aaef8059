"""Trained networks classify images here, by ONNX Runtime: without TensorFlow, in any process.

A run's graph and `weights.npz` become an ONNX model in memory, so no second model file is kept.
`OnnxRunner` and the worker's `KerasRunner` have one interface (`Runner`). At the end of a training
both are compared (`ModelCard.onnx_check`). A network on which they differ, and a `.keras` file,
need Keras (`NeedsTensorFlowError`), which the worker has. `workbench classify` computes in its own
process, the window in the service worker.

`answers_of` alone applies temperature and distance to outputs, also for the test that ends a
training. Only `onnx_runner` imports onnxruntime.
"""
