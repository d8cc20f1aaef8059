"""A folder that images appear in: which of them are new, and complete. Qt-free.

Decided here alone (`FolderWatch`), for window and terminal.
"""
