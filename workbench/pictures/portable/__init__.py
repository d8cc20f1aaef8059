"""How image files become pixels: the rules themselves, in NumPy and Pillow alone.

`workbench.programs.reader` copies the source of these modules, and of `signatures`, into every
exported program that classifies image files, so that it reads them as Workbench does. Nothing
else of Workbench may be imported here.
"""
