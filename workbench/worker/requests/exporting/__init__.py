"""Export of a run: a converter's process writes it, another one reads it back by the format's own
runtime, and what agrees is moved to its place.

    handler     the request: images, both processes, comparison, the move, what is kept of it
    converter   the process that writes; ExportContext is what a format is handed there
    reading     the process that reads (reader_child.py imports nothing of Workbench)
    comparison  how near the answers are, and which layer is the first at fault
    ready       the files beside a model: script, facts, README, license
"""

from __future__ import annotations

from workbench.worker.requests.exporting.handler import export as export
