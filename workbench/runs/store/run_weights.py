"""The weights that a run has kept, held against its own network before they are read.

A run folder may come from elsewhere: a file of any length could have their name.
"""

from __future__ import annotations

from pathlib import Path

from workbench.core.checks.analysis import analyse
from workbench.core.network.graph import Graph
from workbench.core.network.names import keras_names
from workbench.core.projects.project_file import graph_from_plain
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import WEIGHTS_NAME, ModelCard
from workbench.runs.store.weights_file import Arrays, read_arrays

_ROOM_BYTES = 1024 * 1024
"""For names and shapes."""

_COPIES = 12
_CHECKPOINT_BYTES = 64 * 1024 * 1024


def read_run_weights(folder: Path, card: ModelCard) -> Arrays:
    """The weights in a run's folder, which are those of its card.

    Raises:
        ProjectFileError: the card's graph is damaged.
        WeightsError: missing, damaged, of another model, or more than twice as many bytes as the
            network's weights are.
    """
    path = folder / WEIGHTS_NAME
    graph = graph_from_plain(card.graph, str(folder))
    most = weights_room(graph)
    layers = frozenset(keras_names(graph).values())
    return read_arrays(path, checksum=card.checksum, max_bytes=most, layers=layers)


def bytes_of_weights(graph: Graph) -> int:
    """How many bytes the weights of a network are in float32."""
    return 4 * analyse(graph, all_layers(), recipe=TrainingRecipe()).costs.parameters.total


def weights_room(graph: Graph) -> int:
    """The most bytes that a file with the weights of a network can have."""
    return 2 * bytes_of_weights(graph) + _ROOM_BYTES


def checkpoint_room(run: RunFolder) -> int:
    """The most bytes that a checkpoint of a run can have: its weights with all that an optimizer
    keeps of each, their averages, and what the trainer knows beside them.

    Raises:
        RunFolderError, ProjectFileError: its request is missing or damaged.
    """
    return _COPIES * bytes_of_weights(run.request().to_project().graph) + _CHECKPOINT_BYTES
