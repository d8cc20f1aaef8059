"""The classify view: drop a picture, read the answer."""
