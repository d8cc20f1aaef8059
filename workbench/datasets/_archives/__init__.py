"""Archives of class folders: a limited child process reads them, their pictures are cached."""
