"""A network as a graph model of TensorFlow.js.

operations   the graph as TensorFlow traces it, as a value
folding      what is the same for all images becomes constants
rewriting    operations that TensorFlow.js lacks, of those that it has
known        which it has, and of what kind
files        the JSON and the shards of weights
"""

from __future__ import annotations
