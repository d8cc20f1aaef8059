"""What the layers of a network give for a picture, channel by channel, and their filters."""
