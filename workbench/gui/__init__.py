"""The window: the only package with QtWidgets."""
