"""Archives of class folders: a limited child process reads them, their pictures are cached.

The child (`processes.archive_reader`) is the only code that opens a foreign archive; what becomes a
file, and under which name, is decided here.
"""
