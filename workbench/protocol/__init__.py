"""The messages between processes: frozen values, one JSON line each."""
