"""The picture of a webcam with the answers following, where Qt Multimedia is installed."""
