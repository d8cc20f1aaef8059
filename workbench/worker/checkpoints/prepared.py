"""What the parts of a trainer share: its job, and the training once it is ready to run."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.core.projects.project import Project
from workbench.pictures.prepare import PreparedData
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard
from workbench.runs.store.checkpoint import DataMark
from workbench.runs.store.machine import Machine
from workbench.worker.execution.compiled import Compiled, Connected, Sizes
from workbench.worker.process.event_logger import EventLogger
from workbench.worker.process.stop import StopSwitch
from workbench.worker.step.time_spent import TimeLedger


@dataclass(frozen=True)
class TrainingJob:
    """What to train, where it is written, its event log, and its stop switch."""

    run: RunFolder
    project: Project
    events: EventLogger
    stop: StopSwitch


@dataclass(frozen=True)
class PreparedTraining:
    """A training about to begin, or to go on.

    Attributes:
        compiled: What is trained, with the checkpoint's values in its variables.
        sizes: Batch and epochs.
        machine, data: Where and on what; kept in each checkpoint.
        card: The model card but for what training adds to it.
        target: What it is trained on.
        ledger: Where the time goes, since building began.
        images: All parts of the data set.
        reasons: Why the figures of a resumed run can differ from the uninterrupted one's.
    """

    compiled: Compiled
    sizes: Sizes
    machine: Machine
    data: DataMark
    card: ModelCard
    target: Connected
    ledger: TimeLedger
    images: PreparedData
    reasons: tuple[str, ...]

    @property
    def replicas(self) -> int:
        """Devices that share each batch."""
        return self.target.replicas
