"""What processes say to each other: frozen messages, one JSON line each."""
