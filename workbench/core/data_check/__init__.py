"""The data check as values: what is known of the images, what is found, what can be done.

`survey` holds facts of each image, `similar` finds those that look alike, `findings` are the
answers of the rules, and each action makes new `DataEdits`. Qt-free; no image is read here.
"""
