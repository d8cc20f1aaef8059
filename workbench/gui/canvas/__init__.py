"""The canvas: the network as cards and lines, a mirror of the document."""
