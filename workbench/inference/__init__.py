"""Trained networks classify images here, by ONNX Runtime: without TensorFlow, in any process."""
