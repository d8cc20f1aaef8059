"""The event log of a run, and what is computed from it."""
