"""What a layer gives for an image, and its filters, as small images: one for each channel. Any
network that can be built has them.
"""
