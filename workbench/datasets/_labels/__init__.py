"""Labels of arrays and records as classes."""
