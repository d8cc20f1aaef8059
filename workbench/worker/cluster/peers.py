"""Whom a trainer trains with: nobody, unless its target is several machines (machines.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.core.projects.project import Project
from workbench.runs.store.checkpoint import DataMark
from workbench.runs.store.machine import Machine
from workbench.worker.checkpoints.writer import KeptModel
from workbench.worker.execution.compiled import Connected, connect


class Company:
    """A trainer alone.

    Attributes:
        leads: It writes the run: events, checkpoints, weights.
        others: The other machines in their order; the leading one alone knows them.
    """

    leads = True
    others: Sequence[Machine] = ()

    def gather(self, *, resume: bool) -> None:
        """Waits until all machines of the training are there, and tells them what to train.

        Raises:
            RunError: one did not come, or does not fit.
            StoppedError: stopped meanwhile.
        """

    def connect(self, tf: Any, project: Project, mark: DataMark) -> Connected:
        """Reaches the project's target, all machines at once.

        Args:
            tf: TensorFlow.
            project: What is trained.
            mark: Fingerprint of this machine's data; equal on all machines.

        Raises:
            RunError: a machine went away, or has other pictures.
        """
        del mark
        return connect(tf, project)

    def tell_model(self, model: KeptModel) -> None:
        """Gives the others the weights that the leading machine keeps."""

    def hear_model(self) -> KeptModel:
        """The weights that the leading machine keeps; asked of the others alone."""
        raise NotImplementedError

    def explained(self, error: BaseException) -> BaseException:
        """An error of a training, or the one that says which machine is the reason for it."""
        return error

    def close(self, error: BaseException | None) -> None:
        """Parts, at the end of the training.

        Args:
            error: Why it failed; None where it did not.
        """
