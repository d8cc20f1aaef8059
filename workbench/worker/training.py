"""One training from loading to testing, and what is kept of it."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import msgspec
import numpy as np

from workbench.core.checks import analyse
from workbench.core.project import Project
from workbench.core.project_file import graph_to_plain
from workbench.core.schedules import learning_rate_at, learning_rates
from workbench.core.specs import DatasetSpec, Shape
from workbench.errors import GraphError
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedData, prepare
from workbench.protocol.events import BestEpoch, DataReady, EpochFinished, TestResult
from workbench.runs.folder import RunFolder
from workbench.runs.history import best_epoch
from workbench.runs.model_card import ModelCard
from workbench.worker.build import assign_weights, read_weights
from workbench.worker.compiled import Compiled, Sizes, compile_training, connect, sizes_of
from workbench.worker.engine import Engine
from workbench.worker.evaluator import Evaluator
from workbench.worker.failure import DivergedError
from workbench.worker.keeper import Weights, WeightsKeeper, are_finite
from workbench.worker.load_context import TrainerLoadContext
from workbench.worker.loop import CallLength, Scores, StepResults
from workbench.worker.precision import choose_precision
from workbench.worker.progress import Teller, finite
from workbench.worker.sources import find_source
from workbench.worker.stop import StopSwitch
from workbench.worker.versions import versions

_DEFAULT_FIT = "crop"

_UNTIL_EXIT: list[Compiled] = []
"""Taking a data pipeline down waits for its threads, 20 s and more after a long training.
The process of a training ends without that (see __main__), so its parts live as long."""


class Training:
    """Trains what a project says and tells it. `run` is called once.

    Attributes:
        batch_size: Pictures a step.
        test: Scores of the kept weights on the test pictures.
        is_completed: All epochs were trained.
    """

    def __init__(self, run: RunFolder, project: Project, teller: Teller, stop: StopSwitch) -> None:
        self._run = run
        self._project = project
        self._recipe = project.recipe
        self._teller = teller
        self._stop = stop
        self._epochs: list[EpochFinished] = []
        self._best_weights: Weights | None = None
        self._scores_by_epoch: dict[int, Scores] = {}
        self._step = 0
        self.batch_size = project.recipe.batch_size
        self.test: TestResult | None = None
        self.is_completed = False

    @property
    def epochs_done(self) -> int:
        """Whole epochs trained."""
        return len(self._epochs)

    @property
    def best(self) -> BestEpoch | None:
        """The best epoch so far; None before the first."""
        return best_epoch(self._epochs)

    def run(self) -> None:
        """Trains; returns when completed or stopped.

        Raises:
            StoppedError: stopped before the first step: there is nothing to keep.
            WorkbenchError: what is wrong, in words. Other exceptions: a fault.
        """
        engine = Engine()
        engine.load_ahead()
        self._teller.phase("importing", "Importing TensorFlow")
        spec, params = find_source(self._project.dataset.key, self._project.dataset.params)
        fit = str(params.get("fit", _DEFAULT_FIT))
        data = self._load(engine, spec, params, fit)
        compiled, sizes = self._compile(engine, data)
        _UNTIL_EXIT.append(compiled)
        card = self._card(compiled, data, spec, fit)
        del data  # TensorFlow has its own copy now
        self._train(compiled, sizes, card)

    # before training ---------------------------------------------------------------------

    def _load(
        self, engine: Engine, spec: DatasetSpec, params: dict[str, Any], fit: str
    ) -> PreparedData:
        """Loads, decodes and splits while TensorFlow is being imported in another thread."""
        shape = self._shape()
        self._teller.phase("loading", f"Loading {spec.title}")
        ctx = TrainerLoadContext(self._teller, self._stop, engine)
        loaded = spec.load(ctx, params)
        data = prepare(loaded, shape=shape, fit=fit, recipe=self._recipe, ctx=ctx)
        for note in data.notes:
            self._teller.log(note, level="warning")
        self._stop.check()
        return data

    def _shape(self) -> Shape:
        """The shape that the network's Input asks for.

        Raises:
            GraphError: the network cannot be trained; every reason is named.
        """
        graph = self._project.graph
        analysis = analyse(graph, all_layers(), recipe=self._recipe)
        if analysis.errors:
            raise GraphError(
                " ".join(f"{problem.title}: {problem.message}" for problem in analysis.errors),
                where="the network",
                fix="The design view and `workbench check` show each problem with its fixes.",
            )
        return next(
            analysis.shapes[key] for key, node in graph.nodes.items() if node.kind == "input"
        )

    def _compile(self, engine: Engine, data: PreparedData) -> tuple[Compiled, Sizes]:
        if not engine.is_loaded:
            self._teller.phase("importing", "Importing TensorFlow")
        keras = engine.keras()
        import tensorflow as tf

        self._stop.check()
        self._teller.phase("building", "Building the network")
        strategy = connect(tf, self._project)
        sizes = sizes_of(self._project, len(data.train), replicas=strategy.num_replicas_in_sync)
        self._tell_data(data, sizes)
        compiled = compile_training(
            tf,
            keras,
            self._project,
            data,
            strategy=strategy,
            sizes=sizes,
            check=self._stop.check,
        )
        return compiled, sizes

    def _tell_data(self, data: PreparedData, sizes: Sizes) -> None:
        self.batch_size = sizes.batch_size
        if sizes.batch_size != self._recipe.batch_size:
            self._teller.log(
                f"The batch is {sizes.batch_size:,} instead of {self._recipe.batch_size:,}: "
                f"there are {len(data.train):,} training pictures.",
                level="warning",
            )
        self._teller.tell(
            DataReady(
                class_names=list(data.class_names),
                num_train=len(data.train),
                num_validation=len(data.validation) if data.validation else 0,
                num_test=len(data.test) if data.test else 0,
                steps_per_epoch=sizes.steps_per_epoch,
                bad_files=list(data.bad_files),
            )
        )

    def _card(
        self, compiled: Compiled, data: PreparedData, spec: DatasetSpec, fit: str
    ) -> ModelCard:
        project, request = self._project, self._run.request()
        return ModelCard(
            title=request.title,
            class_names=list(data.class_names),
            input_shape=list(compiled.built.input_shape),
            fit=fit,
            graph=graph_to_plain(project.graph),
            is_logits=compiled.built.is_logits,
            precision=choose_precision(self._recipe).precision,
            dataset={"key": project.dataset.key, "params": dict(project.dataset.params)},
            dataset_title=spec.title,
            recipe=msgspec.structs.asdict(self._recipe),
            versions=versions(),
        )

    # training ----------------------------------------------------------------------------

    def _train(self, compiled: Compiled, sizes: Sizes, card: ModelCard) -> None:
        keeper = WeightsKeeper(self._run, partial(self._teller.log, level="warning"))
        try:
            call = CallLength()
            self._teller.phase("compiling", "Compiling the first step")
            while self.epochs_done < sizes.epochs and not self._stop.is_on:
                if self._epoch(compiled, sizes, call):
                    self._keep(compiled, keeper, card)
        finally:
            keeper.close()
        self.is_completed = self.epochs_done == sizes.epochs
        if self._step:
            self._finish(compiled, keeper, card)

    def _epoch(self, compiled: Compiled, sizes: Sizes, call: CallLength) -> bool:
        """Trains and validates one epoch; False when it was stopped within."""
        number = self.epochs_done + 1
        words = f"poch {number:,} of {sizes.epochs:,}"
        started = time.monotonic()
        losses: list[np.ndarray[Any, Any]] = []
        accuracies: list[np.ndarray[Any, Any]] = []
        left = sizes.steps_per_epoch
        training_s = 0.0
        while left and not self._stop.is_on:
            results = self._steps(compiled, sizes, call, epoch=number, left=left)
            self._teller.phase("training", f"E{words}")
            losses.append(results.losses)
            accuracies.append(results.accuracies)
            left -= len(results.losses)
            training_s += results.seconds
        if left:
            return False
        scores = self._scores(compiled.validation, "validating", f"Validating e{words}")
        if scores is not None:
            self._scores_by_epoch[number] = scores
        images = sizes.steps_per_epoch * sizes.batch_size
        self._epochs.append(
            self._teller.tell(
                EpochFinished(
                    epoch=number,
                    step=self._step,
                    loss=finite(float(np.concatenate(losses).mean(dtype=np.float64))),
                    accuracy=finite(float(np.concatenate(accuracies).mean(dtype=np.float64))),
                    val_loss=finite(scores.loss) if scores else None,
                    val_accuracy=finite(scores.accuracy) if scores else None,
                    seconds=round(time.monotonic() - started, 4),
                    images_per_second=round(images / max(training_s, 1e-9), 1),
                )
            )
        )
        return True

    def _steps(
        self, compiled: Compiled, sizes: Sizes, call: CallLength, *, epoch: int, left: int
    ) -> StepResults:
        """Trains and tells the steps of one call, at most `left`."""
        is_first = self._step == 0
        steps = min(call.steps, left)
        rates = learning_rates(
            self._recipe, self._step, steps, sizes.total_steps, sizes.steps_per_epoch
        )
        results = compiled.loop.train(compiled.iterator, steps, rates=rates)
        self._tell_batches(results, epoch, sizes, is_first=is_first)
        if not is_first:
            call.learn(results)
        return results

    def _tell_batches(
        self, results: StepResults, epoch: int, sizes: Sizes, *, is_first: bool
    ) -> None:
        first_step = self._step + 1
        self._step += len(results.losses)
        rate = len(results.losses) * sizes.batch_size / max(results.seconds, 1e-9)
        self._teller.batches(
            epoch=epoch,
            first_step=first_step,
            losses=results.losses.tolist(),
            accuracies=results.accuracies.tolist(),
            # The first call compiles: its speed would mislead.
            images_per_second=0.0 if is_first else round(rate, 1),
            learning_rate=self._learning_rate(self._step - 1, sizes),
        )
        bad = np.flatnonzero(~np.isfinite(results.losses))
        if len(bad):
            raise self._diverged("the loss is not a number", first_step + int(bad[0]))

    def _learning_rate(self, step: int, sizes: Sizes) -> float:
        return learning_rate_at(self._recipe, step, sizes.total_steps, sizes.steps_per_epoch)

    def _diverged(self, what: str, step: int) -> DivergedError:
        return DivergedError(what, step=step, learning_rate=self._recipe.learning_rate)

    def _scores(
        self, evaluator: Evaluator | None, phase: str, text: str, *, to_the_end: bool = False
    ) -> Scores | None:
        if evaluator is None:
            return None

        def is_stopped() -> bool:
            return not to_the_end and self._stop.is_on

        self._teller.phase(phase, text, 0.0)
        return evaluator.scores(partial(self._teller.phase, phase, text), is_stopped)

    # what is kept ------------------------------------------------------------------------

    def _keep(self, compiled: Compiled, keeper: WeightsKeeper, card: ModelCard) -> None:
        """Hands the weights of a finished epoch to the keeper, if they are to be kept."""
        best = self.best
        is_best = best is not None and best.epoch == self.epochs_done
        if self._recipe.keep == "best" and not is_best:
            return
        weights = read_weights(compiled.built)
        if not are_finite(weights):
            raise self._diverged("a weight is not a number", self._step)
        if self._recipe.keep == "best":
            self._best_weights = weights
        keeper.keep_soon(weights, self._stamped(card, self.epochs_done))

    def _stamped(self, card: ModelCard, kept_epoch: int) -> ModelCard:
        return msgspec.structs.replace(
            card,
            epochs_done=self.epochs_done,
            kept_epoch=kept_epoch,
            best=self.best,
            test=self.test,
        )

    def _finish(self, compiled: Compiled, keeper: WeightsKeeper, card: ModelCard) -> None:
        """Puts the weights to keep in place, tests them and writes them for good."""
        kept_epoch = self.epochs_done
        weights = self._best_weights
        if weights is not None and self.best is not None:
            kept_epoch = self.best.epoch
            assign_weights(compiled.built, weights)
        else:
            weights = read_weights(compiled.built)
        if not are_finite(weights):
            raise self._diverged("a weight is not a number", self._step)
        # Before the test, which may take a while: a kill then loses nothing.
        keeper.keep_now(weights, self._stamped(card, kept_epoch))
        scores = self._test_scores(compiled, kept_epoch)
        if scores is not None:
            self.test = TestResult(
                loss=finite(scores.loss), accuracy=finite(scores.accuracy), count=scores.count
            )
            keeper.keep_now(weights, self._stamped(card, kept_epoch))

    def _test_scores(self, compiled: Compiled, kept_epoch: int) -> Scores | None:
        """Scores on the test pictures; those of the validation where it was on the same ones."""
        is_known = compiled.test is compiled.validation and kept_epoch in self._scores_by_epoch
        if is_known and (self.is_completed or self._best_weights is not None):
            return self._scores_by_epoch[kept_epoch]
        return self._scores(compiled.test, "testing", "Testing", to_the_end=True)
