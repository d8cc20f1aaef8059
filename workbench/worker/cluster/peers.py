"""The machines that train together; here a single one. Several: `members`, `chief`."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.projects.project import Project
from workbench.runs.store.checkpoint import DataMark
from workbench.runs.store.machine import Machine
from workbench.worker.checkpoints.writer import KeptModel
from workbench.worker.execution.compiled import Connected, connect


class Peers:
    """A training on one machine.

    Attributes:
        is_chief: It writes the run: events, checkpoints, weights.
        others: The other machines in their order; known to the chief alone.
    """

    is_chief = True
    others: Sequence[Machine] = ()

    def rendezvous(self, *, resume: bool) -> None:
        """Waits until all machines of the training are connected, and sends them the task.

        Raises:
            RunError: one did not come, or does not fit.
            StoppedError: stopped meanwhile.
        """

    def connect(self, project: Project, mark: DataMark) -> Connected:
        """Reaches the project's target, all machines at once. The fingerprint `mark` of this
        machine's data must be equal on all machines.

        Raises:
            RunError: a machine went away, or has other images.
        """
        del mark
        return connect(project)

    def send_model(self, model: KeptModel) -> None:
        """Sends the weights that the chief keeps to the others."""

    def receive_model(self) -> KeptModel:
        """Waits for the weights that the chief keeps; called by the others alone."""
        raise NotImplementedError

    def explained(self, error: BaseException) -> BaseException:
        """An error of a training, or the one that names which machine is the reason for it."""
        return error

    def close(self, error: BaseException | None) -> None:
        """Parts, at the end of the training; `error` is why it failed."""
