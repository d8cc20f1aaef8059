"""A second network's answers to the same pictures, beside those of the first."""
