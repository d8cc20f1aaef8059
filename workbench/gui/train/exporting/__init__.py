"""The Export dialog: formats, the export that is under way, and how exports compare with their
model.
"""
