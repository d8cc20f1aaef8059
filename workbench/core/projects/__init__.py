"""The project as a value and as a file."""
