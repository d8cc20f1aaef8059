"""Images of a data set as the window shows them: a grid, small ones as they are needed, one large.

For every view: which images they are, and what is known of them, is the view's part. An image is
identified by its place in a data set with edits. Thumbnails are made by the service worker when
they are first drawn.
"""
