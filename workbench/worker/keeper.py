"""Keeps a run's weights: after each epoch in the background, at the end for good.

So a run that is killed still classifies with the last epoch it finished.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from workbench.errors import SaveError, UnconfirmedSaveError
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.weights_file import write_arrays

_PAUSE_S = 1.0
"""Between two writes: epochs of a tenth of a second must not keep the disk busy."""

Weights = dict[str, np.ndarray[Any, Any]]


def are_finite(weights: Weights) -> bool:
    """True when no weight is NaN or infinite."""
    return all(
        bool(np.isfinite(array).all()) for array in weights.values() if array.dtype.kind == "f"
    )


class WeightsKeeper:
    """Writes weights and card in a thread of its own; a newer copy replaces a waiting one.

    Args:
        run: Where to.
        warn: Told, in words, when a copy could not be written; training goes on.
    """

    def __init__(self, run: RunFolder, warn: Callable[[str], None]) -> None:
        self._run = run
        self._warn = warn
        self._wake = threading.Condition()
        self._waiting: tuple[Weights, ModelCard] | None = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name="weights-keeper", daemon=True)
        self._thread.start()

    def keep_soon(self, weights: Weights, card: ModelCard) -> None:
        """Hands over a copy to be written; returns at once."""
        with self._wake:
            self._waiting = (weights, card)
            self._wake.notify()

    def close(self) -> None:
        """Writes what waits and ends the thread."""
        with self._wake:
            self._is_closed = True
            self._wake.notify()
        self._thread.join()

    def keep_now(self, weights: Weights, card: ModelCard) -> None:
        """Writes the final weights; call after `close`.

        Raises:
            SaveError: they could not be written; those of the last epoch are unharmed.
        """
        self._write(weights, card, is_final=True)

    def _work(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._waiting is not None or self._is_closed)
                waiting, self._waiting = self._waiting, None
            if waiting is None:
                return
            try:
                self._write(*waiting, is_final=False)
            except SaveError as error:
                self._warn(f"The weights of this epoch were not kept: {error}")
            with self._wake:
                self._wake.wait_for(lambda: self._is_closed, timeout=_PAUSE_S)

    def _write(self, weights: Weights, card: ModelCard, *, is_final: bool) -> None:
        try:
            checksum = write_arrays(self._run.weights_path, weights)
        except UnconfirmedSaveError as error:
            self._warn(str(error))
            checksum = ""
        # Before the end the card names no checksum: a kill between the two files must not
        # part them. The weights file checks itself.
        write_card(
            self._run.path, msgspec.structs.replace(card, checksum=checksum if is_final else "")
        )
