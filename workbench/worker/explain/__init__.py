"""Why a model gives a class its score: Grad-CAM, gradients and occlusion as heat maps, and the
check of a method against random weights.

Works for any network that can be built, by the graph and the layers of a saved model; no layer type
is named here. Grad-CAM is tried at the places that all ways to the scores pass. The map shown is
the one whose hottest tenth, grayed out, costs the most probability; or that of the last
convolution, where the user asks for it to compare pictures.
"""
