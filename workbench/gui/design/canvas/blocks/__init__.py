"""Groups of layers on the canvas: the card of a folded one, the frame of an open one."""
