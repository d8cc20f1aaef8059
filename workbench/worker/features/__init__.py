"""Features: the outputs of a network's frozen part, computed once for each image and kept.

These outputs are a function of the image, so the layers behind are trained on them instead of on
images. `extract` computes those of a training's parts, `store` keeps them by the content of the
image, and `network` cuts the network where its frozen part ends.
"""
