"""Why a model gives a class its score: Grad-CAM, gradients and occlusion as heat maps, and the
check of a method against random weights. Any network that can be built has them.
"""
