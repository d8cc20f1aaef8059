"""Models and weights from files: our runs, `.keras`, `.h5`, notebook results."""
