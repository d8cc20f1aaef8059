"""From a run folder to a model that classifies without TensorFlow."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from workbench.core.calibration.distance import Halves
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph
from workbench.core.network.hidden import last_hidden
from workbench.core.network.names import keras_names
from workbench.core.network.roles import find_outputs, input_nodes
from workbench.core.projects.project_file import graph_from_plain
from workbench.core.specs import Shape
from workbench.errors import GraphError, NeedsTensorFlowError, WeightsError
from workbench.inference.onnx_runner import OnnxRunner
from workbench.layers import all_layers
from workbench.onnx.model import onnx_model
from workbench.processes.memory import available_memory
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard
from workbench.runs.store.references import read_references, references_path
from workbench.runs.store.weights_file import read_arrays

Arrays = Mapping[str, np.ndarray[Any, Any]]


def load_onnx_runner(path: str | Path) -> OnnxRunner:
    """The model of a run folder.

    Raises:
        NeedsTensorFlowError: it is no run folder, or its network is not computed here.
        RunFolderError: no weights yet, or a damaged or newer card.
        WeightsError: damaged weights, or not those of the network.
        ProjectFileError: the card's graph is damaged.
    """
    run = RunFolder(Path(path))
    if not run.path.is_dir():
        raise NeedsTensorFlowError("Weights of Keras are read with TensorFlow.", where=str(path))
    if not is_installed():
        raise NeedsTensorFlowError("ONNX Runtime is not installed.")
    card = run.model_card()
    try:
        return _load(run, card)
    except WeightsError:
        # A trainer may have kept newer weights between our reading of card and weights.
        newer = run.model_card()
        if newer.checksum == card.checksum:
            raise
        return _load(run, newer)


def is_installed() -> bool:
    """Whether ONNX Runtime is: computers that only train have none."""
    return importlib.util.find_spec("onnxruntime") is not None


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
    arrays = read_arrays(run.weights_path, checksum=card.checksum)
    _refuse_large(arrays, largest, where)
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


def _refuse_large(arrays: Arrays, largest_layer: int, where: str) -> None:
    """ONNX Runtime copies the weights that the model holds, twice while it is opened."""
    wanted, free = 3 * sum(array.nbytes for array in arrays.values()), available_memory()
    wanted += 2 * 4 * largest_layer
    if wanted > 0.9 * free:
        raise WeightsError(
            "The model is too large for this computer.",
            where=where,
            received=f"{wanted:,} bytes while it is loaded",
            expected=f"at most {int(0.9 * free):,} bytes, 90% of the free memory",
        )


def references_of(card: ModelCard, read: Callable[[str], Halves]) -> Halves | None:
    """What the distance is measured by; None where there is none, or, with a line in the log, where
    it cannot be used: the model classifies without it.

    Args:
        card: The model's card.
        read: Reads them, of a checksum; raises WeightsError.
    """
    mark = card.calibration.distance if card.calibration is not None else None
    if mark is None:
        return None
    try:
        return read(mark.checksum)
    except WeightsError as error:
        sys.stderr.write(f"The distance from the training images is not checked. {error}\n")
        return None


def with_all_names(card: ModelCard, units: int, shape: Shape, where: str) -> ModelCard:
    """The card with a name for each output: a network may have more outputs than classes.

    Args:
        card: The card.
        units: Outputs of its network.
        shape: (height, width, channels) of the network's images.
        where: For the words of an error.

    Raises:
        WeightsError: the card is not of this network.
    """
    if units < len(card.class_names) or tuple(shape) != tuple(card.input_shape):
        raise WeightsError(
            "The model card does not match its model.",
            where=where,
            received=f"{len(card.class_names)} classes, images {tuple(card.input_shape)}",
            expected=f"{units} classes, images {tuple(shape)}",
        )
    unnamed = [f"output {number + 1}" for number in range(len(card.class_names), units)]
    return msgspec.structs.replace(card, class_names=[*card.class_names, *unnamed])
