"""Live curves of runs."""
