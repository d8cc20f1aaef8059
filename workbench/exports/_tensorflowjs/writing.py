"""Conversion of a Keras model to the folder of a graph model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.exports._tensorflowjs.files import write_files
from workbench.exports._tensorflowjs.folding import fold
from workbench.exports._tensorflowjs.known import refuse_unknown
from workbench.exports._tensorflowjs.operations import trace
from workbench.exports._tensorflowjs.rewriting import rewrite


def write_graph_model(context: Any, folder: Path) -> None:
    """Writes a graph model of images, float32 (n, height, width, channels), 0..255.

    Args:
        context: An ExportContext.
        folder: To be made.

    Raises:
        ValueError: an operation cannot be written; the text has its path.
    """
    graph = trace(context)
    fold(graph)
    rewrite(graph)
    refuse_unknown(graph)
    write_files(graph, folder, tuple(context.card.input_shape), context.made_by)
