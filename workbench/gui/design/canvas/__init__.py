"""The canvas: the network as cards and connections, a mirror of the document.

The scene has one map from node id to item. It is fed by the differences between the graph that was
shown and the one that is (`GraphDiff`), and never writes to the graph. What it shows is the graph
with folded groups as cards; nothing but the canvas works with that.
"""
