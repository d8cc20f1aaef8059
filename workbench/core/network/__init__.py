"""The network as a value: graph, differences, names, order and layout.

A `Graph` is never changed in place: each edit gives a new one, and undo is keeping the old one. The
canvas repaints what `diff` finds between two of them.

A folded group is one card in what is shown (`folding`): an edit of the card is an edit of one of
its layers. Only the canvas works with the folded graph; checks, trainer and file know of groups
but of no folding.

`roles` finds the unbroken chain of preprocessing and augmentation layers behind Input
(`pipeline_nodes`): it runs in the input pipeline, all other layers in the model.
"""
