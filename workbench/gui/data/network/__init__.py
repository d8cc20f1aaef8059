"""Which network is trained on the project's images: shown, and chosen.

Which one suits the images is decided in `workbench.starter`.
"""
