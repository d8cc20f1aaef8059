"""The data check in the data view: its findings, what they show, and what is done about them.

Findings are values of `workbench.core.data_check`. An action makes new `DataEdits`, so undo is
the document's.
"""
