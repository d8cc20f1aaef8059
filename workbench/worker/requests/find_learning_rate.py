"""FindLearningRate: a training with a rising rate, then a few short ones from the start."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from workbench.core.format import rate_text
from workbench.core.training.rate_finder import (
    Descent,
    RateSearch,
    Trial,
    Values,
    answer_words,
    first_descent,
    has_diverged,
    lengths_of,
    sweep_steps,
    tail_steps,
    trial_rates,
)
from workbench.protocol.find import (
    FindLearningRate,
    LearningRateFound,
    LearningRateTrial,
    LearningRateTried,
)
from workbench.worker.execution.compiled import Compiled
from workbench.worker.process.run_channel import finite
from workbench.worker.requests.benchmark_setup import BenchmarkSetup, set_up
from workbench.worker.requests.session import Job
from workbench.worker.step.trainable import sizes_of
from workbench.worker.step.training_loop import CallLength, StepResults

_SEND_INTERVAL_S = 0.2

_USUAL_TRIALS = (6, 3)
"""Short and long trials that most searches need, for the progress."""


def find_learning_rate(job: Job, request: FindLearningRate) -> LearningRateFound:
    """Trains some steps, each with a rate a little higher than the one before; then a few short
    trainings, each from the project's own start.

    Raises:
        WorkbenchError: the project cannot be trained.
    """
    trial = set_up(job, request.project)
    job.progress("Building the model")
    trainer = RateTrainer(job, trial, request)
    descent = trainer.sweep()
    shares = np.bincount(trial.data.train.y) / len(trial.data.train)
    search = RateSearch(
        train=trainer.train,
        present=trial.project.recipe.learning_rate,
        start=None if descent is None else descent.start,
        lengths=trainer.lengths,
        chance=float(shares.max()),
        batch_size=trainer.sizes.batch_size,
        num_images=len(trial.data.train),
    )
    outcome = search.run()
    words = answer_words(outcome, chance=search.chance, has_fallen=descent is not None)
    return LearningRateFound(
        id=job.id,
        suggested=outcome.suggested,
        words=words,
        verdict=outcome.verdict,
        present=outcome.present.rate,
        good=[outcome.good[0], outcome.good[-1]] if outcome.good else [],
    )


def _tried(request_id: int, trial: Trial) -> LearningRateTrial:
    return LearningRateTrial(
        id=request_id,
        rate=trial.rate,
        steps=trial.steps,
        accuracy=None if trial.has_diverged else round(trial.accuracy, 4),
        loss=trial.loss,
    )


class RateTrainer:
    """One compiled project that is trained again and again from its start: the weights, random
    states and batches that a run of it begins with.
    """

    def __init__(self, job: Job, trial: BenchmarkSetup, request: FindLearningRate) -> None:
        self._job = job
        self._request = request
        self._recipe = trial.project.recipe
        self._num_images = len(trial.data.train)
        self._compiled: Compiled = trial.compiled()
        self._start = self._compiled.read_state()
        replicas = self._compiled.loop.step.replicas
        self.sizes = sizes_of(trial.project, len(trial.data.train), replicas=replicas)
        self._per_epoch = self.sizes.steps_per_epoch
        self.lengths = lengths_of(self.sizes.total_steps, self.sizes.batch_size)
        self._sweep_steps = request.steps or sweep_steps(self.sizes.batch_size)
        plan = self._compiled.plan
        self._call = CallLength(plan.steps_per_call, pinned=self._compiled.limits.call_steps)
        short, long = _USUAL_TRIALS
        self._planned = self._sweep_steps + short * self.lengths.short + long * self.lengths.long
        self._done = 0

    def sweep(self) -> Descent | None:
        """Trains with a rising rate until the loss has diverged; its first descent."""
        request, recipe = self._request, self._recipe
        rates = np.geomspace(request.lowest, request.highest, self._sweep_steps)
        losses: list[float] = []
        sent, sent_at = 0, time.monotonic()
        scale = recipe.peak_rate / recipe.learning_rate
        for results in self._training(rates * scale, "Raising the learning rate"):
            losses += results.losses.tolist()
            is_over = has_diverged(np.array(losses)) or len(losses) == len(rates)
            if is_over or time.monotonic() - sent_at > _SEND_INTERVAL_S:
                self._send_tried(rates[sent : len(losses)].tolist(), losses[sent:])
                sent, sent_at = len(losses), time.monotonic()
            if is_over:
                break
        self._done = self._sweep_steps
        return first_descent(rates[: len(losses)], np.array(losses))

    def _send_tried(self, rates: list[float], losses: list[float]) -> None:
        finite_losses = [finite(loss) for loss in losses]
        self._job.send(LearningRateTried(id=self._job.id, rates=rates, losses=finite_losses))

    def train(self, rate: float, steps: int) -> Trial:
        """A short training with one rate of the recipe's field, its whole schedule in it."""
        rates = trial_rates(self._recipe, rate, steps, self.sizes.total_steps, self._per_epoch)
        text = f"Training {steps:,} steps with learning rate {rate_text(rate)}"
        losses: list[float] = []
        accuracies: list[float] = []
        for results in self._training(rates, text):
            losses += results.losses.tolist()
            accuracies += results.accuracies.tolist()
            if not np.isfinite(results.losses).all():
                break
        self._done += steps
        judged = min(self._num_images, tail_steps(steps) * self.sizes.batch_size)
        trial = Trial(rate, steps, np.array(losses), np.array(accuracies), judged)
        self._job.send(_tried(self._job.id, trial))
        return trial

    def _training(self, rates: Values, text: str) -> Iterator[StepResults]:
        """Trains from the project's start, a step for each effective rate, in short calls."""
        compiled = self._compiled
        compiled.restore_state(self._start)
        iterator, done = compiled.restart(0), 0
        while done < len(rates):
            self._job.check_cancelled()
            fraction = min(0.99, (self._done + done) / self._planned)
            self._job.progress(text, fraction)
            steps = min(self._call.steps, len(rates) - done)
            part = rates[done : done + steps].astype(np.float32)
            results = compiled.loop.train(iterator, steps, rates=part)
            self._call.learn(results)
            done += steps
            yield results
