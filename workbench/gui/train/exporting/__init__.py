"""The Export dialog: formats, the export that is under way, and how exports compare with their
model.

Formats are listed by the group that each declares. What a format lacks on this computer is found by
`workbench.exports`, the same for the worker.
"""
