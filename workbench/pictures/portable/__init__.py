"""How image files become pixels: the rules themselves, in NumPy and Pillow alone.

`workbench.programs.reader` copies the source of these modules into every exported program that
classifies image files, so that it reads them as Workbench does. Nothing else of Workbench may be
imported here. `resources/programs/classify_node.txt` has the same rules in JavaScript for JPEG and
PNG; `tests/pictures/test_kinds.py` compares them.

`ranges` alone infers which number is black and which is white, for arrays and files; the model card
keeps the range of files.
"""
