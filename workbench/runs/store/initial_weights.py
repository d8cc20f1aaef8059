"""Runs that start from the weights of another run.

A copy of the weights is in the new run's folder: it can be resumed when the other run is gone, or
has other weights.
"""

from __future__ import annotations

import shutil
from typing import Any

from workbench.core.projects.project import Project
from workbench.errors import UsageError
from workbench.runs.environment import is_remote
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.request import InitialWeights
from workbench.runs.store.run_weights import checkpoint_room, read_run_weights
from workbench.runs.store.weights_file import Arrays, read_arrays, write_arrays

INITIAL_NAME = "initial.npz"


def create_run_from(source: RunFolder | None, project: Project, **how: Any) -> RunFolder:
    """Makes the folder of a new run; it starts from the weights that another one has kept.

    Args:
        source: The other run; None to start from random and pretrained weights.
        project: What to train; layers of the same name and shape get the weights.
        how: As `create_run` takes it.

    Raises:
        RunFolderError, ProjectFileError, WeightsError: `source` has no weights, or damaged ones.
        UsageError: no layer can get any, or the target is another computer.
        SaveError, RunError: the new run cannot be written; nothing of it is left.
    """
    if source is None:
        return create_run(project, **how)
    if is_remote(project.target):
        raise UsageError(
            "A run on another computer cannot start from the weights of a run.",
            where="target",
            expected="training on this computer",
            fix="Train on this computer, or from new weights.",
        )
    card = source.model_card()
    arrays = read_run_weights(source.path, card)
    _check_names(source, project, arrays)
    words = _words(source, project)
    initial = InitialWeights(run=words, epoch=card.kept_epoch, checksum=card.checksum)
    run = create_run(project, initial=initial, **how)
    try:
        write_arrays(run.path / INITIAL_NAME, arrays)
    except BaseException:
        shutil.rmtree(run.path, ignore_errors=True)
        raise
    return run


def read_initial(run: RunFolder) -> Arrays | None:
    """The weights that a run starts from, by the names of `read_weights`; None for none.

    Raises:
        WeightsError: they are missing or damaged, or not those of the request.
    """
    initial = run.request().initial
    if initial is None:
        return None
    return read_arrays(
        run.path / INITIAL_NAME, checksum=initial.checksum, max_bytes=checkpoint_room(run)
    )


def initial_words(initial: InitialWeights | None) -> str:
    """Source of the initial weights: "run 3, epoch 5"; "" for random and pretrained ones."""
    if initial is None:
        return ""
    return f"{initial.run}, epoch {initial.epoch:,}" if initial.epoch else initial.run


def _words(source: RunFolder, project: Project) -> str:
    request = source.request()
    is_own = request.number and request.project_id == project.id
    return f"run {request.number}" if is_own else source.name


def _check_names(source: RunFolder, project: Project, arrays: Arrays) -> None:
    """Raises UsageError where no layer of the project has the name of one with weights."""
    have = {name.partition("/")[0] for name in arrays}
    if have.isdisjoint(node.name for node in project.graph.nodes.values()):
        raise UsageError(
            "The weights are of another network.",
            where=source.name,
            received=", ".join(sorted(have)[:6]),
            expected="layers with the names of the project's layers",
            fix="Choose a run of this network, or train from new weights.",
        )
