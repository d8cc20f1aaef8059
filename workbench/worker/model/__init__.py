"""The Keras model of a project, and the forms of layers that are fast or correct in bfloat16.

On processors, layers are trained by classes of our own that compute what Keras's do in less time. A
layer passes what the next one can use as an attribute of its output tensor (`linked_class`).
Exported models are made of Keras's own layers. `load_pretrained` reads and checks the weights that
layers name.
"""
