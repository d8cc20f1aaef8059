"""A network as a graph model of TensorFlow.js.

A converter of our own: the graph that TensorFlow traces is a value, which is folded and then
rewritten with the operations that TensorFlow.js has.

operations   the graph as TensorFlow traces it, as a value
folding      what is the same for all images becomes constants
rewriting    operations that TensorFlow.js lacks, of those that it has
known        which it has, and of what kind
files        the JSON and the shards of weights
"""

from __future__ import annotations
