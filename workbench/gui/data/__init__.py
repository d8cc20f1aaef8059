"""The data view: source, classes, split."""
