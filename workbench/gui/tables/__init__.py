"""Tables of figures, for any view.

Numbers are aligned and sorted as numbers; text columns take the remaining width.
"""
