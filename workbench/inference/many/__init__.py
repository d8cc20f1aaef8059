"""Classifying folders of any size: images decoded ahead in threads, classified in batches.

Rows are sent and written as they come, so memory does not grow with the number of images. The
command line calls this in its own process, the window in a worker.
"""

from __future__ import annotations

from workbench.inference.many.handler import classify_many as classify_many
