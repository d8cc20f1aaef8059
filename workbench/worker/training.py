"""One training from loading to testing: from its start, or from a checkpoint."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import msgspec

from workbench.core.checks import analyse
from workbench.core.progress_rules import ProgressRules
from workbench.core.project import Project
from workbench.core.project_file import graph_to_plain
from workbench.core.specs import DatasetSpec, Shape
from workbench.errors import GraphError, SaveError
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedData, prepare
from workbench.protocol.events import BestEpoch, DataReady, RunStarted, TestResult
from workbench.runs.checkpoint import Checkpoint
from workbench.runs.confusions import append_confusion, truncate_confusions
from workbench.runs.folder import RunFolder
from workbench.runs.machine import differences, this_machine
from workbench.runs.model_card import ModelCard
from workbench.runs.origin import write_origin
from workbench.runs.speeds import add_speed, measured_run
from workbench.targets import all_targets
from workbench.worker.build import finish_statistics
from workbench.worker.checkpoint import check_same_data, mark_of, restore
from workbench.worker.compiled import Compiled, Sizes, compile_training, connect, sizes_of
from workbench.worker.engine import Engine
from workbench.worker.epoch import EpochTrainer
from workbench.worker.heartbeat import peak_bytes
from workbench.worker.keeping import Keeping, KeptModel, NotFiniteError
from workbench.worker.load_context import TrainerLoadContext
from workbench.worker.loop import Scores
from workbench.worker.position import Facts, Position
from workbench.worker.progress import Teller, finite
from workbench.worker.sources import find_source
from workbench.worker.stop import StopSwitch
from workbench.worker.time_spent import TimeLedger
from workbench.worker.versions import versions

_DEFAULT_FIT = "crop"

_UNTIL_EXIT: list[Compiled] = []
"""Taking a data pipeline down waits for its threads, 20 s and more after a long training.
The process of a training ends without that (see __main__), so its parts live as long."""


class Training:
    """Trains what a project says and tells it. `run` is called once.

    Args:
        run: The run's folder.
        project: What to train.
        teller: Told everything.
        stop: Looked at now and then.
        checkpoint: From where to go on; None for a start.
        is_resumed: A trainer has worked on this run before, with or without a checkpoint.
        begun: `time.monotonic()` when this trainer began.

    Attributes:
        batch_size: Pictures a step.
        test: Scores of the kept weights on the test pictures.
        is_completed: All epochs were trained, or the recipe ended it early.
    """

    def __init__(
        self,
        run: RunFolder,
        project: Project,
        teller: Teller,
        stop: StopSwitch,
        *,
        checkpoint: Checkpoint | None,
        is_resumed: bool,
        begun: float,
    ) -> None:
        self._run = run
        self._project = project
        self._recipe = project.recipe
        self._teller = teller
        self._stop = stop
        self._checkpoint = checkpoint
        self._is_resumed = is_resumed
        self._rules = ProgressRules(self._recipe, checkpoint.state.rules if checkpoint else None)
        self._position = Position(begun=begun)
        if checkpoint is not None:
            self._position = Position.of(checkpoint.state, checkpoint.arrays, begun)
        self._ledger = TimeLedger()
        self._speeds: list[float] = []
        self._replicas = 1
        self.batch_size = project.recipe.batch_size
        self.test: TestResult | None = None
        self.is_completed = False

    @property
    def epochs_done(self) -> int:
        """Whole epochs trained."""
        return self._position.epochs_done

    @property
    def seconds(self) -> float:
        """Since the run began, without the time between its trainers."""
        return self._position.seconds

    @property
    def best(self) -> BestEpoch | None:
        """The best epoch so far; None before the first."""
        return self._position.best_epoch

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
        mark = mark_of(data)
        reasons = check_same_data(self._checkpoint.state.data, mark) if self._checkpoint else []
        compiled, sizes = self._compile(engine, data)
        _UNTIL_EXIT.append(compiled)
        facts = Facts(compiled.plan, this_machine(versions()), mark)
        self._warned(partial(write_origin, self._run, facts.machine, mark))
        self._tell_start(compiled, sizes, facts, reasons)
        card = self._card(compiled, data, spec, fit)
        del data  # TensorFlow has its own copy now
        self._train(compiled, sizes, card, facts)

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
        self._replicas = strategy.num_replicas_in_sync
        sizes = sizes_of(self._project, len(data.train), replicas=self._replicas)
        self._tell_data(data, sizes)
        checkpoint = self._checkpoint
        self._ledger = TimeLedger()
        with self._ledger.spending("compile"):
            compiled = compile_training(
                tf,
                keras,
                self._project,
                data,
                strategy=strategy,
                sizes=sizes,
                check=self._stop.check,
                plan=checkpoint.state.plan if checkpoint else None,
                start_step=self._position.step,
                measure=True,
                tell=self._teller.phase,
            )
        self._ledger.place = compiled.plan.pipeline
        layers = [layer for _, layer in compiled.built.pipeline]
        self._ledger.is_augmenting = any(hasattr(layer, "generator") for layer in layers)
        if checkpoint is not None:
            restore(compiled.state_variables(), checkpoint.arrays)
            finish_statistics(compiled.built)
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

    def _tell_start(
        self, compiled: Compiled, sizes: Sizes, facts: Facts, reasons: list[str]
    ) -> None:
        spec = all_targets()[self._project.target.key]
        checkpoint = self._checkpoint
        if checkpoint is not None:
            reasons = [*differences(checkpoint.state.machine, facts.machine), *reasons]
            for note in checkpoint.notes:
                self._teller.log(note, level="warning")
        self._teller.tell(
            RunStarted(
                run=str(self._run.path),
                target=spec.key,
                replicas=self._replicas,
                precision=compiled.plan.precision,
                seed=self._recipe.seed,
                versions=facts.machine.versions,
                plan=compiled.plan,
                epochs=sizes.epochs,
                batch_size=sizes.batch_size,
                pid=os.getpid(),
                resumed_at_step=self._position.step if self._is_resumed else None,
                bit_exact=(reasons or True) if self._is_resumed else None,
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
            precision=compiled.plan.precision,
            dataset={"key": project.dataset.key, "params": dict(project.dataset.params)},
            dataset_title=spec.title,
            recipe=msgspec.structs.asdict(self._recipe),
            versions=versions(),
        )

    # training ----------------------------------------------------------------------------

    def _train(self, compiled: Compiled, sizes: Sizes, card: ModelCard, facts: Facts) -> None:
        trainer = EpochTrainer(
            compiled,
            sizes,
            self._recipe,
            position=self._position,
            rules=self._rules,
            teller=self._teller,
            stop=self._stop,
            ledger=self._ledger,
        )
        keeping = Keeping(
            self._run,
            compiled,
            card,
            facts,
            position=self._position,
            rules=self._rules,
            keeps_best=self._recipe.keep == "best",
            teller=self._teller,
            ledger=self._ledger,
            state=self._checkpoint.state if self._checkpoint else None,
        )
        self._checkpoint = None  # its arrays are in TensorFlow now
        try:
            self._epochs(trainer, keeping, sizes)
        except NotFiniteError as error:
            raise trainer.diverged("a weight is not a number", self._position.step) from error
        finally:
            keeping.close()
        if not self._position.step:
            return
        if not self.is_completed:
            keeping.keep_place()
        if self.is_completed or not self._stop.is_pause:
            self._finish(compiled, trainer, keeping)
        self._teller.tell(self._ledger.told())
        if self._speeds:
            self._warned(partial(self._keep_speed, facts.plan.precision))

    def _epochs(self, trainer: EpochTrainer, keeping: Keeping, sizes: Sizes) -> None:
        """Trains until all epochs are done, the rules end it, or it is stopped."""
        self._teller.phase("compiling", "Compiling the first step")
        self._warned(partial(truncate_confusions, self._run, self.epochs_done))
        self._position.go_on()
        stop_words = self._rules.stop_words
        while self.epochs_done < sizes.epochs and not stop_words:
            if self._stop.is_on:
                return
            trained = trainer.train(keeping.after_call)
            if trained is None:
                return
            epoch, scores = trained
            verdict = self._rules.took(epoch)
            self._position.finish_epoch(epoch, scores, is_best=verdict.is_best)
            self._speeds.append(epoch.images_per_second)
            if scores is not None:
                confusion = scores.confusion
                self._warned(partial(append_confusion, self._run, epoch.epoch, confusion))
            for words in filter(None, (verdict.words, verdict.stop_words)):
                self._teller.log(words)
            keeping.after_epoch(is_best=verdict.is_best)
            stop_words = verdict.stop_words
        self.is_completed = True

    def _warned(self, write: Callable[[], None]) -> None:
        """Writes what a training can do without."""
        try:
            write()
        except SaveError as error:
            self._teller.log(str(error), level="warning")

    # the end -----------------------------------------------------------------------------

    def _finish(self, compiled: Compiled, trainer: EpochTrainer, keeping: Keeping) -> None:
        """Keeps the weights for good and tests them."""
        try:
            model = keeping.finish()
        except NotFiniteError as error:
            raise trainer.diverged("a weight is not a number", self._position.step) from error
        scores = self._test_scores(compiled, trainer, model)
        if scores is not None:
            self.test = TestResult(
                loss=finite(scores.loss), accuracy=finite(scores.accuracy), count=scores.count
            )
            keeping.keep_model(model, self.test)

    def _keep_speed(self, precision: str) -> None:
        """For predictions: how fast this network was here. The first epoch of several warms up."""
        add_speed(
            measured_run(
                analyse(self._project.graph, all_layers(), recipe=self._recipe),
                self._recipe,
                batch_size=self.batch_size,
                precision=precision,
                images_per_second=median(self._speeds[1:] or self._speeds),
                memory_bytes=peak_bytes(),
            )
        )

    def _test_scores(
        self, compiled: Compiled, trainer: EpochTrainer, model: KeptModel
    ) -> Scores | None:
        """Scores on the test pictures; those of the validation where it was on the same ones."""
        is_of_epoch = self.is_completed or self._recipe.keep == "best"
        if compiled.test is compiled.validation and is_of_epoch:
            known = self._position.scores.get(model.epoch)
            if known is not None:
                return known
        return trainer.scores(compiled.test, "testing", "Testing", to_the_end=True)
