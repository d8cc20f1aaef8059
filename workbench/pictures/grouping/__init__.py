"""Which images belong together: by their folders, or by their names."""
