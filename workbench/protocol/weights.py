"""The weights of a run: which of them are kept, and loading those of others into one."""

from __future__ import annotations

import msgspec

from workbench.protocol.bases import Request


class KeptWeights(msgspec.Struct, frozen=True, kw_only=True):
    """Which weights a run has saved: those that classify, and are tested and exported.

    Attributes:
        epoch: The last epoch they have finished, 0 for none.
        kind: "last" or "best".
        is_partial: They have trained steps beyond that epoch: the run was stopped within the next.
        is_averaged: They are the moving average of the weights (EMA).
        val_accuracy: Of that epoch, 0..1; None where it was not measured for these weights.
        is_chosen_on_test: The best epoch was chosen by the test images, which also test it.
    """

    epoch: int
    kind: str = "last"
    is_partial: bool = False
    is_averaged: bool = False
    val_accuracy: float | None = None
    is_chosen_on_test: bool = False


WEIGHTS_ENDINGS = (".weights.h5", ".h5", ".hdf5", ".keras")
"""How the files end that weights are loaded from."""


RESULT_ENDING = ".zip"
"""How the file ends that an exported notebook leaves."""


class LoadWeights(Request, frozen=True, kw_only=True, tag="load_weights"):
    """Makes a run of a project (file text) and a `.weights.h5` or `.keras` file, or the `.zip` of
    an exported notebook. Answer: Done with the `path` of the run folder: `run`, or a new one if
    empty.
    """

    project: str
    weights: str
    run: str = ""
