"""Widgets, theme and dialogs that know nothing of the product."""
