"""The canvas: the network as cards and connections, a mirror of the document."""
