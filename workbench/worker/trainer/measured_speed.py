"""How fast this computer trains this network, kept while it does so: for later estimates."""

from __future__ import annotations

import time
from statistics import median

from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.checks.frozen import PhaseWork
from workbench.core.checks.run_estimate import VALIDATION_SHARE
from workbench.core.projects.project import Project
from workbench.layers import all_layers
from workbench.processes.memory import peak_bytes
from workbench.protocol.events import EpochFinished
from workbench.runs.state.throughput import add_speed, measured_run
from workbench.worker.execution.compiled import Compiled, Sizes

_INTERVAL_S = 30.0


class SpeedKeeper:
    """Takes the epochs of one trainer and keeps their speed, that of its last phase.

    Args:
        name: The run's; its speed is kept once.
        project: What is trained.
        sizes: Batch and steps of an epoch.
        compiled: How it is trained. On several replicas, and of a head on features, nothing is
            kept: it says nothing of other runs.
    """

    def __init__(self, name: str, project: Project, sizes: Sizes, compiled: Compiled) -> None:
        self._name = name
        self._project = project
        self._sizes = sizes
        self._compiled = compiled
        self._analysis: Analysis | None = None
        self._speeds: list[float] = []
        self._factors: list[float] = []
        self._kept_at = float("-inf")
        self._num_kept = 0

    def go_on(self, compiled: Compiled) -> None:
        """Called when the next phase begins: other layers are computed."""
        self._compiled = compiled
        self._speeds, self._factors, self._num_kept = [], [], 0

    def add(self, epoch: EpochFinished, num_validated: int) -> None:
        """Takes an epoch, and how many images were validated after it."""
        images = self._sizes.steps_per_epoch * self._sizes.batch_size
        computed_s = (images + VALIDATION_SHARE * num_validated) / epoch.images_per_second
        self._speeds.append(epoch.images_per_second)
        self._factors.append(epoch.seconds / computed_s)

    def keep_now_and_then(self) -> None:
        """Keeps the speed after the first epochs, which an estimate waits for, then each 30 s."""
        is_early = self._num_kept < 2
        if is_early or time.monotonic() - self._kept_at >= _INTERVAL_S:
            self.keep()

    def keep(self) -> None:
        """Keeps the speed of the epochs so far; raises SaveError."""
        if not self._speeds or self._compiled.limits.replicas > 1:
            return
        recipe = self._project.recipe
        if self._analysis is None:
            self._analysis = analyse(self._project.graph, all_layers(), recipe=recipe)
        head, work = self._analysis.phases[0], self._work(self._analysis)
        is_cached = self._compiled.features is not None
        if is_cached != bool(work.copies) or (is_cached and work.frozen == head.frozen):
            return
        self._kept_at = time.monotonic()
        self._num_kept += 1
        # The first epoch of several warms up.
        speeds, factors = self._speeds[1:] or self._speeds, self._factors[1:] or self._factors
        measured = measured_run(
            self._analysis,
            recipe,
            run=self._name,
            batch_size=self._sizes.batch_size,
            precision=self._compiled.plan.precision,
            images_per_second=median(speeds),
            epoch_factor=median(factors),
            memory_bytes=peak_bytes(),
            work=work,
        )
        add_speed(measured)

    def _work(self, analysis: Analysis) -> PhaseWork:
        return analysis.phases[-1 if self._compiled.phase.is_fine_tuning else 0]
