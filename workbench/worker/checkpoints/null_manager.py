"""Checkpoints on a machine that is not the chief: none."""

from __future__ import annotations

from collections.abc import Callable

from workbench.protocol.events import TestResult
from workbench.worker.checkpoints.writer import KeptModel
from workbench.worker.execution.compiled import Compiled
from workbench.worker.model.build import assign_weights


class NullCheckpointManager:
    """Writes nothing; has the interface of `CheckpointManager`, which the chief uses.

    Args:
        compiled: What is trained.
        receive_model: Waits for the weights that the chief keeps.
    """

    def __init__(self, compiled: Compiled, receive_model: Callable[[], KeptModel]) -> None:
        self._compiled = compiled
        self._receive_model = receive_model

    def after_call(self) -> None:
        """Nothing."""

    def after_epoch(self, *, is_best: bool) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""

    def keep_place(self) -> None:
        """Nothing."""

    def keep_model(self, model: KeptModel, test: TestResult | None) -> None:
        """Nothing."""

    def finish(self) -> KeptModel:
        """Puts the weights that the leading machine keeps into the network: all test them."""
        model = self._receive_model()
        assign_weights(self._compiled.built, model.weights)
        return model
