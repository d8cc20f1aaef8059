"""How fast this computer trains this network, kept while it does so: for later estimates."""

from __future__ import annotations

import time
from statistics import median

from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.checks.estimates.measured_run import VALIDATION_SHARE
from workbench.core.checks.frozen import PhaseWork
from workbench.core.projects.project import Project
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedData
from workbench.processes.memory import peak_bytes
from workbench.protocol.events import EpochFinished
from workbench.runs.state.throughput import WholeRun, add_speed, data_mark, measured_run
from workbench.worker.execution.compiled import Compiled, Sizes

_INTERVAL_S = 30.0


class SpeedKeeper:
    """Takes the epochs of one trainer and keeps their speed: of a head on cached features, and that
    of the last phase.

    Args:
        name: The run's; its speed is kept once for each of the two.
        project: What is trained.
        sizes: Batch and steps of an epoch.
        compiled: How it is trained. On several replicas nothing is kept: it says nothing of other
            runs.
        images: What it is trained on.
    """

    def __init__(
        self,
        name: str,
        project: Project,
        sizes: Sizes,
        compiled: Compiled,
        images: PreparedData,
    ) -> None:
        self._name = name
        self._project = project
        self._sizes = sizes
        self._compiled = compiled
        self._images = images
        self._epochs_s = 0.0
        self._features_s = compiled.features.seconds if compiled.features is not None else 0.0
        self._analysis: Analysis | None = None
        self._speeds: list[float] = []
        self._factors: list[float] = []
        self._kept_at = float("-inf")
        self._num_kept = 0

    def go_on(self, compiled: Compiled) -> None:
        """Called when the next phase begins: other layers are computed."""
        self._compiled = compiled
        self._features_s += compiled.features.seconds if compiled.features is not None else 0.0
        self._speeds, self._factors, self._num_kept = [], [], 0

    def add(self, epoch: EpochFinished, num_validated: int) -> None:
        """Takes an epoch, and how many images were validated after it."""
        images = self._sizes.steps_per_epoch * self._sizes.batch_size
        computed_s = (images + VALIDATION_SHARE * num_validated) / epoch.images_per_second
        self._speeds.append(epoch.images_per_second)
        self._factors.append(epoch.seconds / computed_s)
        self._epochs_s += epoch.seconds

    def keep_now_and_then(self) -> None:
        """Keeps the speed after the first epochs, which an estimate waits for, then each 30 s."""
        is_early = self._num_kept < 2
        if is_early or time.monotonic() - self._kept_at >= _INTERVAL_S:
            self.keep()

    def keep(self, run_s: float = 0.0) -> None:
        """Keeps the speed of the epochs so far; raises SaveError. `run_s` are the seconds of the
        whole run where it is over and was not resumed.
        """
        if not self._speeds or self._compiled.limits.replicas > 1:
            return
        recipe = self._project.recipe
        if self._analysis is None:
            self._analysis = analyse(self._project.graph, all_layers(), recipe=recipe)
        work = self._work(self._analysis)
        if (self._compiled.features is not None) != bool(work.copies):
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
            whole=self._whole(self._analysis, work, run_s),
        )
        add_speed(measured)

    def _work(self, analysis: Analysis) -> PhaseWork:
        return analysis.phases[-1 if self._compiled.phase.is_fine_tuning else 0]

    def _whole(self, analysis: Analysis, work: PhaseWork, run_s: float) -> WholeRun:
        features, images = self._compiled.features, self._images
        return WholeRun(
            data=data_mark(self._project.dataset),
            num_train=len(images.train),
            num_validation=len(images.validation or ()),
            num_test=len(images.test or ()),
            is_on_features=features is not None and work.frozen == analysis.phases[0].frozen,
            num_computed=features.num_computed if features is not None else 0,
            features_s=features.seconds if features is not None else 0.0,
            other_s=max(0.0, run_s - self._epochs_s - self._features_s) if run_s else 0.0,
        )
