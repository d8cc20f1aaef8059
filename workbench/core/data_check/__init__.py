"""The data check as values: what is known of the images, what is found, what can be done.

`survey` holds facts of each image in columns, `similar` finds images that look alike, `findings`
are the answers of the rules (`workbench.data_checks`). Each action makes new `DataEdits`, so window
and terminal settle a finding alike and undo is the document's. Labels are judged by confident
learning (`label_scores`) on features that the worker computes in the pass that reads the images;
`label_scores` alone estimates how many labels are wrong. Qt-free; no image is read here.
"""
