"""The learning-rate and batch-size finders."""
