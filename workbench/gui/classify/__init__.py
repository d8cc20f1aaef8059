"""The classify view: drop a picture, read the answer.

What the panels share is `ClassifyState`. What concerns the picture that is shown (heat map,
feature maps, nearest images) is requested only while its panel is visible (`WhenSeen`), and an
answer that belongs to an earlier picture is dropped.
"""
