"""What the service worker answers: one file per request.

A handler is a function of `Job` and the request; it may send progress and partial answers, and
returns the final one. It raises errors of the tree, which become `Failed`. Packages hold handlers
that share code: `browse`, `exporting`, `trained`.
"""
