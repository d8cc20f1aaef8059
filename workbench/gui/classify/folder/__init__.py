"""A folder classified in the window: the job, its rows in columns, and the table of them.

The rows are written to a temporary table where the user has named no file, and can then be saved as
one. Rows are columns of numbers, so that a million of them cost some bytes each.
"""
