"""Browsing all images of a data set: the handlers, and the thumbnails that are kept on disk.

Thumbnails of a grid are made in threads and kept by path, size and time of change of the file; the
cache can be deleted at any time.
"""

from __future__ import annotations

from workbench.worker.requests.browse.handlers import identify_images as identify_images
from workbench.worker.requests.browse.handlers import list_images as list_images
from workbench.worker.requests.browse.handlers import make_thumbnails as make_thumbnails
from workbench.worker.requests.browse.show_picture import show_picture as show_picture
