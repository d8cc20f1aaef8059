"""All runs together: index, search, comparison, trash."""
