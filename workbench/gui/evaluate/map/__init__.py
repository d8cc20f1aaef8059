"""The map of a run's images: its points, how they are drawn and picked, and the panel."""
