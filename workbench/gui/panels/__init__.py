"""Side panels, one file each. Panels never import each other."""
