"""Which folders are the classes, and which the parts, of pictures sorted into folders.

Folders become parts and classes here alone: for folders, archives and new projects. `words` knows
what names of folders mean (train, eval and test1 as in tables, see `pictures.listed`). Every
picture that is not used is counted, with the reason.
"""
