"""A region of the screen, dragged on a still image of it."""
