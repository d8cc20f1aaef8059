"""Weights files of others: opened by a short-lived child with limits, and by nothing else."""
