"""One training from loading to testing: from its start, or from a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np

from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.checks.costs import PhaseWork
from workbench.core.checks.estimates import VALIDATION_SHARE
from workbench.core.projects.project import Project
from workbench.core.training.progress_rules import ProgressRules
from workbench.errors import SaveError
from workbench.inference.runner import ImageResults
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedData
from workbench.processes.memory import peak_bytes
from workbench.protocol.events import EpochFinished, TestResult
from workbench.protocol.weights import KeptWeights
from workbench.runs.library.series import MedianRule
from workbench.runs.log.confusion_history import append_confusion, truncate_confusions
from workbench.runs.state.preparing import WholeRun, add_speed, data_mark, measured_run
from workbench.runs.store.checkpoint import Checkpoint, write_origin
from workbench.worker.checkpoints.manager import (
    CheckpointManager,
    NotFiniteError,
    NullCheckpointManager,
)
from workbench.worker.checkpoints.training_state import (
    PreparedTraining,
    TrainingCounters,
    TrainingJob,
    longer_words,
)
from workbench.worker.checkpoints.writer import KeptModel
from workbench.worker.cluster.members import Peers
from workbench.worker.execution.compiled import Compiled, Sizes
from workbench.worker.input.pipeline import WHOLE
from workbench.worker.process.failure import DivergedError
from workbench.worker.process.run_channel import StoppedError, finite
from workbench.worker.process.setup import FolderWatch
from workbench.worker.step.training_loop import Scores
from workbench.worker.trainer.after_training import (
    AfterTraining,
    Calibrated,
    Report,
    calibrate_run,
    check_onnx,
    is_comparable,
    is_robustness_wanted,
    is_saved_test_needed,
    keep_measured,
    keep_test,
    saved_test,
    test_result,
)
from workbench.worker.trainer.epoch import EpochTrainer, culprit_of_weights
from workbench.worker.trainer.setup import TrainingSetup, log_start

# measured speed ------------------------------------------------------------------------------
# How fast this computer trains this network, kept while it does so: for later estimates.

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


# training ------------------------------------------------------------------------------------

AnyManager = CheckpointManager | NullCheckpointManager

_UNTIL_EXIT: list[Compiled] = []
"""Taking a data pipeline down waits for its threads, 20 s and more after a long training.
The process of a training ends without that (see __main__), so its parts are kept until then."""


class Training:
    """Trains a project and logs it. `run` is called once.

    Args:
        job: What to train.
        checkpoint: From where to go on; None for a start.
        is_resumed: A trainer has worked on this run before, with or without a checkpoint.
        begun: `time.monotonic()` when this trainer began.
        before_s: Seconds that the trainers before this one have worked, by the log.
        peers: The machines that train together.

    Attributes:
        counters: Steps, epochs and scores so far.
        batch_size: Images per step.
        test: Scores of the kept weights on the test images.
        kept: Which weights those are; None before the end.
        is_completed: All phases were trained, or ended early by the recipe.
    """

    def __init__(
        self,
        job: TrainingJob,
        *,
        checkpoint: Checkpoint | None,
        is_resumed: bool,
        begun: float,
        before_s: float = 0.0,
        peers: Peers,
    ) -> None:
        self._job = job
        self._run = job.run
        self._peers = peers
        self._recipe = job.project.recipe
        self._events = job.events
        self._stop = job.stop
        self._checkpoint = checkpoint
        self._is_resumed = is_resumed
        self._rules = ProgressRules(
            self._recipe,
            checkpoint.state.rules if checkpoint else None,
            patience_from=job.run.request().patience_from,
        )
        self.counters = TrainingCounters(begun=begun)
        if checkpoint is not None:
            self.counters = TrainingCounters.of(checkpoint.state, checkpoint.arrays, begun)
        # Steps that are done again took their time, too: the elapsed time never falls.
        self.counters.seconds_before = max(self.counters.seconds_before, before_s)
        self._median = MedianRule(job.run)
        self._folder = FolderWatch(job.run)
        self.batch_size = job.project.recipe.batch_size
        self.test: TestResult | None = None
        self.kept: KeptWeights | None = None
        self.is_completed = False

    def run(self) -> None:
        """Trains; returns when completed or stopped.

        Raises:
            StoppedError: stopped before the first step: there is nothing to keep.
            WorkbenchError: what is wrong, in words. Other exceptions: a fault.
        """
        setup = TrainingSetup(self._job, self._checkpoint, self._peers)
        ready = setup.make()
        _UNTIL_EXIT.append(ready.compiled)
        self.batch_size = ready.sizes.batch_size
        self._warned(partial(write_origin, self._run, ready.machine, ready.data))
        for note in self._checkpoint.notes if self._checkpoint else ():
            self._events.log_line(note, level="warning")
        resumed_at = self.counters.step if self._is_resumed else None
        if self._is_resumed:
            self.counters.begun = time.monotonic()  # getting there was no training
        log_start(self._job, ready, resumed_at)
        if words := longer_words(self._run, self._recipe, self.counters):
            self._events.log_line(words)
        self._train(setup, ready)

    # training ----------------------------------------------------------------------------

    def _train(self, setup: TrainingSetup, ready: PreparedTraining) -> None:
        ledger = ready.ledger
        speed = SpeedKeeper(
            self._run.name, self._job.project, ready.sizes, ready.compiled, ready.images
        )
        manager = self._keeping(ready)
        self._checkpoint = None  # its arrays are in TensorFlow now
        trainer = self._trainer(ready)
        self._events.phase("compiling", "Compiling the training step")
        self._warned(partial(truncate_confusions, self._run, self.counters.epochs_done))
        self.counters.go_on()
        try:
            while self._epochs(trainer, manager, ready, speed):
                manager.after_phase()
                try:
                    ready = setup.next_phase(ready, self.counters.step, self.counters.epochs_done)
                except StoppedError:
                    break  # with all of the phase before
                _UNTIL_EXIT.append(ready.compiled)
                manager.go_on(ready)
                speed.go_on(ready.compiled)
                trainer = self._trainer(ready)
        except NotFiniteError as error:
            raise self._spoilt(ready.compiled, trainer) from error
        finally:
            manager.close()
        # A pause keeps from where to go on alone.
        if self.counters.step and not self.is_completed and self._stop.is_pause:
            manager.keep_place()
        elif self.counters.step:
            self._finish(ready, trainer, manager)
        self._events.log(ledger.snapshot())
        is_whole = self.is_completed and not self._is_resumed
        self._warned(partial(speed.keep, self.counters.seconds if is_whole else 0.0))

    def _trainer(self, ready: PreparedTraining) -> EpochTrainer:
        self._rules.begin(ready.compiled.phase)
        return EpochTrainer(self._job, ready, self.counters, self._rules)

    def _keeping(self, ready: PreparedTraining) -> AnyManager:
        if not self._peers.is_chief:
            return NullCheckpointManager(ready.compiled, self._peers.receive_model)
        state = self._checkpoint.state if self._checkpoint else None
        return CheckpointManager(self._job, ready, self.counters, self._rules, state)

    def _epochs(
        self,
        trainer: EpochTrainer,
        manager: AnyManager,
        ready: PreparedTraining,
        speed: SpeedKeeper,
    ) -> bool:
        """Trains until the phase is over, the rules end it, or it is stopped; returns whether
        another phase follows.
        """
        sizes, phase = ready.sizes, ready.compiled.phase
        is_last = phase.end_epoch == sizes.epochs
        while self.counters.epochs_done < sizes.epochs:
            is_ended = bool(self._rules.stop_words)
            if is_ended and is_last:
                break
            if self._stop.is_on:
                return False
            if is_ended:
                self.counters.skip_to(phase.end_epoch, sizes.steps_per_epoch)
            if self.counters.epochs_done == phase.end_epoch:
                return True
            trained = trainer.train(partial(self._between_calls, manager, sizes))
            if trained is None:
                return False
            epoch, scores = trained
            verdict = self._rules.took(epoch)
            self.counters.finish_epoch(epoch, scores, is_best=verdict.is_best)
            speed.add(epoch, scores.count if scores is not None else 0)
            self._warned(speed.keep_now_and_then)
            if scores is not None:
                confusion = scores.confusion
                self._warned(partial(append_confusion, self._run, epoch.epoch, confusion))
            for words in filter(None, (verdict.words, verdict.stop_words)):
                self._events.log_line(words)
            manager.after_epoch(is_best=verdict.is_best)
            self._stop_if_hopeless(epoch.epoch, sizes)
        self.is_completed = True
        return False

    def _stop_if_hopeless(self, epoch: int, sizes: Sizes) -> None:
        """Requests the end of a run of a sweep that the others leave behind. What is trained stays
        as it is: resumed, the run goes on bit for bit.
        """
        words = self._median.stop_words() if epoch < sizes.epochs else ""
        if words and self._peers.is_chief:
            self._events.log_line(words)
            self._stop.request(words)

    def _between_calls(self, manager: AnyManager, sizes: Sizes) -> None:
        # Where only the validation is left, the epoch's own checkpoint comes soon.
        if self.counters.steps_of_epoch < sizes.steps_per_epoch:
            manager.after_call()
        self._events.wait_for_room(lambda: self._stop.is_on)
        self._folder.check()

    def _warned(self, write: Callable[[], None]) -> None:
        """Writes what a training can do without."""
        try:
            write()
        except SaveError as error:
            self._events.log_line(str(error), level="warning")

    def _spoilt(self, compiled: Compiled, trainer: EpochTrainer) -> DivergedError:
        """The error of weights that are no numbers though all losses were."""
        culprit = culprit_of_weights(compiled.built)
        found = culprit.words if culprit is not None else ""
        return trainer.diverged("a weight is not finite", self.counters.step, found)

    # the end -----------------------------------------------------------------------------

    def _finish(self, ready: PreparedTraining, trainer: EpochTrainer, manager: AnyManager) -> None:
        """Keeps the weights for good, and all else that follows, each of which can be skipped."""
        try:
            model = manager.finish(is_completed=self.is_completed)
            self._peers.send_model(model)
        except NotFiniteError as error:
            raise self._spoilt(ready.compiled, trainer) from error
        self.kept = self.counters.kept(self._recipe, model.epoch)
        after, job = AfterTraining(self._job, ready.ledger), self._job
        found = calibrate_run(job, ready, after) if self._peers.is_chief else Calibrated()
        if self._peers.is_chief and is_comparable(ready):
            after.phase("comparing", "Checking the saved model", partial(check_onnx, job, ready))
        part, compiled = ready.images.test, ready.compiled
        if part is None or compiled.test is None:
            return
        words = "testing", "Evaluating on the test set"
        known = self._known_scores(compiled, model)
        if compiled.loop.share != WHOLE:  # all machines test together: none can leave it out
            scores = known or trainer.scores(compiled.test, *words, to_the_end=True)
            self.test = _result_of(scores)
            if self.test is not None:
                self._warned(partial(manager.keep_test, self.test))
            return
        test = partial(self._tested, ready, manager, found, known)
        answers = after.phase(*words, test)
        if answers is None:
            return
        keep = partial(keep_test, job, part, answers)
        after.phase("testing", "Keeping the answers for the test images", keep)
        if not is_robustness_wanted(job):
            return
        if self._stop.is_on:
            self._events.log_line("The training was stopped: its robustness was not measured.")
            return
        measured = partial(keep_measured, job, part)
        after.phase("testing", "Measuring on altered test images", measured)

    def _tested(
        self,
        ready: PreparedTraining,
        manager: AnyManager,
        found: Calibrated,
        known: Scores | None,
        report: Report,
    ) -> ImageResults | None:
        """Tests the weights on this machine alone; returns what they have answered for each image,
        None where that was not possible. `known` are scores that the test would only repeat.
        """
        compiled, part = ready.compiled, ready.images.test
        assert part is not None and compiled.test is not None  # noqa: S101, PT018 - for the types
        if is_saved_test_needed(ready):
            saved = saved_test(self._job, ready, report)
            if saved is None:
                return None
            answers, loss = saved, saved.loss
        else:
            answers, losses = compiled.test.answers(found.answers, found.hidden, report)
            loss = float(losses.mean(dtype=np.float64))
            if known is not None:
                self.test = _result_of(known)
        self.test = self.test or test_result(part, answers, loss)
        self._warned(partial(manager.keep_test, self.test))
        return answers

    def _known_scores(self, compiled: Compiled, model: KeptModel) -> Scores | None:
        """The scores of the validation, where it was on the test images."""
        is_of_epoch = self.is_completed or self._recipe.keep == "best"
        if compiled.test is compiled.validation and is_of_epoch:
            return self.counters.scores.get(model.epoch)
        return None


def _result_of(scores: Scores | None) -> TestResult | None:
    if scores is None:
        return None
    return TestResult(
        loss=finite(scores.loss), accuracy=finite(scores.accuracy), count=scores.count
    )
