"""What the layers of a network give for a picture, channel by channel, and their filters.

The worker sends one image of levels for all channels; here it is colored, and the table written by
the same function as in the terminal (`channel_table`).
"""
