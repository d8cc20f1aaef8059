"""Which images belong together, so that a split must not divide them: by folder or by name.

A regular expression comes with a project, perhaps from elsewhere, and can be made to take years. It
is tried in a child process with limits.
"""
