"""The Keras model of a project, and the forms of layers that are fast or correct in bfloat16."""
