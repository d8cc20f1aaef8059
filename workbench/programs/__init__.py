"""Programs that train a project elsewhere, as text: Python scripts and notebook cells.

The texts are templates in `resources/programs`; modules here fill them in. An exported program
carries the source of the rules by which image files are read (`reader_source`).

A program that trains elsewhere reads no images of the user and knows no edits: what a run would
train, validate and test on is packed into a file beside it (`PackedImages` of the worker). Only a
published data set without edits is loaded by the program itself (`is_loaded_there`).
"""
