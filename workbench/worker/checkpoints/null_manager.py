"""What a machine does that does not lead, where the leading one keeps something."""

from __future__ import annotations

from collections.abc import Callable

from workbench.protocol.events import TestResult
from workbench.worker.checkpoints.writer import KeptModel
from workbench.worker.execution.compiled import Compiled
from workbench.worker.model.build import assign_weights


class NotKeeping:
    """Keeps nothing; stands where `Keeping` stands on the leading machine.

    Args:
        compiled: What is trained.
        hear_model: Waits for the weights that the leading machine keeps.
    """

    def __init__(self, compiled: Compiled, hear_model: Callable[[], KeptModel]) -> None:
        self._compiled = compiled
        self._hear_model = hear_model

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
        model = self._hear_model()
        assign_weights(self._compiled.built, model.weights)
        return model
