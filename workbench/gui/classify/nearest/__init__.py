"""The training images nearest to the picture that is shown.

Nearest by the outputs of the last hidden layer, which are computed once for a run's weights.
"""
