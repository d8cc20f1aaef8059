"""A run's curves for other programs: tables and TensorBoard files."""
