"""Tables (CSV) that list images with their labels."""
