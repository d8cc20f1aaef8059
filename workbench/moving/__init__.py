"""Projects, runs and images that move: images found again at another place, bundles in one file."""
