"""What the network answers if the picture is altered: sliders, and bars that follow them.

The sliders follow from the files in `workbench.alterations`. While one moves, only the newest
request counts.
"""
