"""The list of runs and what can be done with them."""
