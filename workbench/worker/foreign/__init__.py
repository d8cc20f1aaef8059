"""Weights files of others: opened by a short-lived child with limits, and by nothing else.

Which layer of a file is which layer of the network (`match_layers`): by the network that the file
describes, read as data (`read_architecture`, rules in `resources/keras_layers.toml`) and compared
as a graph (`match_calls`); else by names; else by order, only where one order fits. A configuration
from a file is never turned into a Keras model. What was found is reported in `LoadFindings`.
"""
