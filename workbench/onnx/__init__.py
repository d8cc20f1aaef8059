"""A network as an ONNX model, from its graph and its weights: no TensorFlow, no converter.

The rules are in the layers' plug-in files; here are the file format (`protobuf`), the graph that is
written (`writer`), and the walk over the network (`model`).
"""
