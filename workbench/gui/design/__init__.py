"""The design view: palette, canvas, inspector."""
