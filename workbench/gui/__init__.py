"""The window: QtWidgets live here and only here."""
