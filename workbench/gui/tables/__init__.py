"""Tables of figures, for any view."""
