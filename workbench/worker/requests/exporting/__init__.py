"""Export of a run: a converter's process writes it, another one reads it back by the format's own
runtime, and what agrees is moved to its place.

    handler     the request: images, both processes, comparison, the move, what is kept of it
    converter   the process that writes; ExportContext is what a format is handed there
    reading     the process that reads (reader_child.py imports nothing of Workbench)
    comparison  how near the answers are, and which layer is the first at fault
    ready       the files beside a model: script, facts, README, license

Processes of their own, because converters leak memory and end the process in which they fail. The
reading one runs the script of a ready folder, without TensorFlow unless that is the runtime. The
move is done by the one save routine, for folders too. If the answers differ, the model is exported
once more with the outputs of all layers, to name the first layer at fault.
"""

from __future__ import annotations

from workbench.worker.requests.exporting.handler import export as export
