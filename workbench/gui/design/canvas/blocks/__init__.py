"""Groups of layers on the canvas: the card of a folded one, the frame of an open one.

A card is a node of the shown graph alone, with an id that no layer can have
(`workbench.core.network.folding`); an edit of the card is an edit of one of its layers.
"""
