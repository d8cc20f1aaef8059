"""What a layer gives for an image, and its filters, as small images: one for each channel.

Works for any network that can be built, by the layers of a saved model. The answer is one image of
levels for all channels, with their statistics; window and terminal color it by `pictures.heat`.
"""
