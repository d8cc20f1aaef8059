"""A run on disk: start, follow, stop, list. Qt-free."""
