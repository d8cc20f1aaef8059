"""The project as a value and as a file.

A project file has a version; older ones are migrated, newer ones refused. Layer kinds and fields
that this version does not know are kept and written back.

`DataEdits` are what the user has changed about a data set without touching its files; they refer
to an image by its content. Named versions of them (`DataVersion`) are values of the project too. A
project's robustness tests are names and strengths of alterations.
"""
