"""The model of the application: plain Python values, no Qt, no TensorFlow."""
