"""What a request is done with: answers and progress go out, a cancel comes in."""

from __future__ import annotations

from typing import Protocol

from workbench.inference.runner import Runner
from workbench.protocol.bases import Answer


class Task(Protocol):
    """One request while it is done.

    Attributes:
        id: Id of the request; its answers have it too.
    """

    id: int

    def send(self, answer: Answer, /) -> None:
        """Sends an answer that is not the last."""

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Reports what is being done, and how much of it is, 0..1."""

    def check_cancelled(self) -> None:
        """Raises where the request has been canceled."""

    def runner(self, model: str) -> Runner:
        """The model at a path, as it classifies."""
