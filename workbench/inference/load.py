"""Loading a run folder as a model that classifies without TensorFlow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph
from workbench.core.network.hidden import last_hidden
from workbench.core.network.names import keras_names
from workbench.core.network.roles import find_outputs, input_nodes
from workbench.core.projects.project_file import graph_from_plain
from workbench.errors import GraphError, NeedsTensorFlowError, WeightsError
from workbench.inference.onnx_runner import OnnxRunner
from workbench.inference.saved_model import (
    load_by_card,
    references_of,
    refuse_large,
    with_all_names,
)
from workbench.layers import all_layers
from workbench.onnx.model import onnx_model
from workbench.parts import CLASSIFY, TRAIN
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard
from workbench.runs.store.references import read_references, references_path
from workbench.runs.store.run_weights import read_run_weights

Arrays = Mapping[str, np.ndarray[Any, Any]]


def load_onnx_runner(path: str | Path) -> OnnxRunner:
    """The model of a run folder.

    Raises:
        NeedsTensorFlowError: it is no run folder, or its network is not computed here; TensorFlow,
            which then computes it, is installed.
        MissingPartError: what computes it is not installed.
        RunFolderError: no weights yet, or a damaged or newer card.
        WeightsError: damaged weights, or not those of the network.
        ProjectFileError: the card's graph is damaged.
    """
    try:
        return _load_run(RunFolder(Path(path)))
    except NeedsTensorFlowError as error:
        if TRAIN.is_installed:
            raise
        raise TRAIN.error(reason=f"{error.what} {error.received}".strip()) from error


def _load_run(run: RunFolder) -> OnnxRunner:
    if not run.path.is_dir():
        where = str(run.path)
        raise NeedsTensorFlowError("Weights of Keras are read with TensorFlow.", where=where)
    if not CLASSIFY.is_installed:
        if TRAIN.is_installed:
            raise NeedsTensorFlowError("ONNX Runtime is not installed.")
        raise CLASSIFY.error()
    return load_by_card(run.model_card, partial(_load, run))


def _load(run: RunFolder, card: ModelCard) -> OnnxRunner:
    where = str(run.path)
    if card.onnx_check is not None and not card.onnx_check.is_passed:
        raise NeedsTensorFlowError("ONNX Runtime computed other outputs.", where=where)
    graph, layers = graph_from_plain(card.graph, where), all_layers()
    known = Propagation(graph, layers)
    outputs = find_outputs(graph, layers)
    if known.problems or len(outputs) != 1 or len(known.shapes[outputs[0]]) != 1:
        raise NeedsTensorFlowError("The network has problems.", where=where)
    first, output = input_nodes(graph, layers)[0].id, outputs[0]
    largest = max(math.prod(shape) for shape in known.shapes.values())
    card = with_all_names(card, known.shapes[output][0], known.shapes[first], where)
    arrays = read_run_weights(run.path, card)
    # ONNX Runtime copies the weights that the model holds, twice while it is opened.
    num_bytes = 3 * sum(array.nbytes for array in arrays.values()) + 2 * 4 * largest
    refuse_large(num_bytes, "bytes while it is loaded", where)
    hidden = last_hidden(graph, layers, partial(_has_kernel, keras_names(graph), arrays))
    model = _written(graph, arrays, hidden, where)
    try:
        return OnnxRunner(
            card,
            model,
            largest_layer=largest,
            hidden_size=0 if hidden is None else known.shapes[hidden][-1],
            references=references_of(card, partial(read_references, references_path(run))),
        )
    except Exception as error:  # of ONNX Runtime: it has no common class
        raise NeedsTensorFlowError(
            "ONNX Runtime refuses the network.", where=where, received=str(error)[:400]
        ) from error


def _written(graph: Graph, arrays: Arrays, hidden: str | None, where: str) -> bytes:
    try:
        return onnx_model(graph, all_layers(), arrays, hidden=hidden, as_logits=True)
    except GraphError as error:
        raise NeedsTensorFlowError(error.what, where=error.where or where) from error
    except WeightsError as error:
        raise WeightsError(error.what, where=where, received=error.received) from error
    except ValueError as error:  # weights of shapes that NumPy cannot compute with
        raise NeedsTensorFlowError(
            "The network cannot be written in ONNX.", where=where, received=str(error)[:400]
        ) from error


def _has_kernel(names: Mapping[str, str], arrays: Arrays, node: str) -> bool:
    own = f"{names[node]}/"
    return any(array.ndim > 1 for name, array in arrays.items() if name.startswith(own))
