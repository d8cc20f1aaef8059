"""The picture of a webcam with the answers following, where Qt Multimedia is installed.

One request is under way at a time, for the newest frame; other frames are dropped.
"""
