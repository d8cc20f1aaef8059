"""The views of the window, one file each."""
