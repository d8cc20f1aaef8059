"""Widgets, theme and dialogs independent of the product."""
