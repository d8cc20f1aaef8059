"""The window's end of the workers. QtCore only."""
