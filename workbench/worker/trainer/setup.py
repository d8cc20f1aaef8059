"""Training set-up before the first step: images, network, pipelines, and what is logged
of them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import msgspec
import numpy as np

from workbench.backbones import pretrained_layer
from workbench.core.checks.analysis import analyse
from workbench.core.checks.recipe import check_split
from workbench.core.format import plural, rate_text
from workbench.core.network.roles import input_nodes
from workbench.core.projects.data_edits import edits_to_plain, version_of
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import graph_to_plain
from workbench.core.projects.texts import target_text
from workbench.core.specs import DatasetSpec, Shape, TargetLimits
from workbench.core.specs.dataset import SplitMarks, marks_to_plain, read_marks
from workbench.datasets import all_datasets
from workbench.errors import WeightsError
from workbench.layers import all_layers
from workbench.pictures.portable.ranges import read_range
from workbench.pictures.prepare import PreparedData, PreparedPart, prepare
from workbench.protocol.events import DataReady, RunStarted
from workbench.runs.model_card import ModelCard
from workbench.runs.store.checkpoint import Checkpoint, DataMark, differences, this_machine
from workbench.runs.store.weights_file import initial_words, read_initial
from workbench.targets import all_targets
from workbench.worker.checkpoints.training_state import (
    PreparedTraining,
    TrainingJob,
    check_same_data,
    mark_of,
    restore_at,
    snapshot,
)
from workbench.worker.cluster.members import Peers
from workbench.worker.execution.compiled import (
    Compiled,
    Connected,
    Sizes,
    compile_training,
    sizes_of,
)
from workbench.worker.input.sources import find_source, fit_of, load_data
from workbench.worker.model.build import BuiltModel, finish_statistics, fitting_layers
from workbench.worker.process.lazy_keras import LazyKeras
from workbench.worker.process.run_channel import TrainerLoadContext
from workbench.worker.process.setup import versions
from workbench.worker.step.trainable import Arrays
from workbench.worker.step.training_loop import TimeLedger

# shared images -------------------------------------------------------------------------------
# Held-out images that are among the training images too: what is measured on them is a leak.

_MOST_IMAGES = 100_000
_MOST_BYTES = 2**30
"""More is not compared: it would hold up the start by seconds."""


def count_shared(data: PreparedData) -> int:
    """How many validation and test images are equal to a training image, pixel by pixel; 0 where
    the images are not in memory, or too many.
    """
    held_out = {id(part): part for part in (data.validation, data.test) if part is not None}
    parts = [data.train, *held_out.values()]
    if not all(isinstance(part.x, np.ndarray) for part in parts):
        return 0
    if sum(map(len, parts)) > _MOST_IMAGES or sum(part.x.nbytes for part in parts) > _MOST_BYTES:
        return 0
    known = set(_digests(data.train))
    return sum(digest in known for part in held_out.values() for digest in _digests(part))


def _digests(part: PreparedPart) -> Iterator[bytes]:
    for image in np.asarray(part.x):
        yield hashlib.blake2b(image.tobytes(), digest_size=16).digest()


# setup ---------------------------------------------------------------------------------------


class TrainingSetup:
    """Gets a training ready; `make` is called once.

    Args:
        job: What to train; its event log gets the progress.
        checkpoint: From where to go on; None for a start.
        peers: The machines that train together.
    """

    def __init__(self, job: TrainingJob, checkpoint: Checkpoint | None, peers: Peers) -> None:
        self._run = job.run
        self._peers = peers
        self._project = job.project
        self._recipe = job.project.recipe
        self._checkpoint = checkpoint
        self._events = job.events
        self._stop = job.stop
        self._initial = read_initial(job.run)
        self._ledger = TimeLedger()
        self._num_shared = 0

    def make(self) -> PreparedTraining:
        """Loads the images, builds the network and puts the checkpoint's values into it.

        Raises:
            StoppedError: stopped meanwhile.
            WorkbenchError: what is wrong, in words. Other exceptions: a fault.
        """
        lazy_keras = LazyKeras()
        lazy_keras.load_ahead()
        self._events.phase("importing", "Importing TensorFlow")
        spec, params = find_source(self._project.dataset.key, self._project.dataset.params)
        fit = fit_of(params)
        data = self._load(lazy_keras, spec, params, fit)
        mark, checkpoint = mark_of(data), self._checkpoint
        reasons = check_same_data(checkpoint.state.data, mark) if checkpoint else []
        compiled, sizes, target = self._compile(lazy_keras, data, mark)
        machine = this_machine(versions(), self._peers.others)
        if checkpoint is not None:
            reasons = [*differences(checkpoint.state.machine, machine), *reasons, *self._moved()]
        card = model_card(
            self._project,
            compiled.built,
            title=self._run.request().title,
            class_names=data.class_names,
            marks=data.marks,
        )
        card = msgspec.structs.replace(
            card, fit=fit, value_range=data.value_range, precision=compiled.plan.precision
        )
        return PreparedTraining(
            compiled, sizes, machine, mark, card, target, self._ledger, data, tuple(reasons)
        )

    def _moved(self) -> list[str]:
        """The reason that the run began on another target, in words; [] where it did not."""
        if self._run.moved_to() is None:
            return []
        began = target_text(self._run.request().to_project().target, all_targets())
        return [f"it was started on another target: {began}"]

    def _load(
        self, lazy_keras: LazyKeras, spec: DatasetSpec, params: dict[str, Any], fit: str
    ) -> PreparedData:
        """Loads, decodes and splits while TensorFlow is being imported in another thread."""
        shape = checked_input_shape(self._project)
        self._events.phase("loading", f"Loading {spec.name_of(params)}")
        ctx = TrainerLoadContext(self._events, self._stop, lazy_keras)
        loaded = load_data(ctx, self._project, self._run.request().parcel)
        if self._checkpoint is not None:  # images may have come since the start
            marks = read_marks(self._checkpoint.state.data.split, lambda *_: None)
            loaded = replace(loaded, marks=marks or loaded.marks)
        data = prepare(loaded, shape=shape, fit=fit, recipe=self._recipe, ctx=ctx)
        if version := version_of(self._project.data_versions, self._project.edits):
            self._events.log_line(f"Version of the data: {version}")
        for note in data.notes:
            self._events.log_line(note, level="warning")
        self._num_shared = count_shared(data)  # while TensorFlow is imported
        self._stop.check()
        return data

    def _compile(
        self, lazy_keras: LazyKeras, data: PreparedData, mark: DataMark
    ) -> tuple[Compiled, Sizes, Connected]:
        if not lazy_keras.is_loaded:
            self._events.phase("importing", "Importing TensorFlow")
        lazy_keras.keras()
        self._stop.check()
        self._events.phase("building", "Building the model")
        target = self._peers.connect(self._project, mark)
        sizes = sizes_of(self._project, len(data.train), replicas=target.replicas)
        self._log_data(data, sizes, target.replicas)
        self._log_split(target.limits)
        checkpoint = self._checkpoint
        self._ledger = TimeLedger()  # imports and loading have phases of their own
        with self._ledger.spending("compile"):
            compiled = compile_training(
                self._project,
                data,
                target=target,
                sizes=sizes,
                check=self._stop.check,
                plan=checkpoint.state.plan if checkpoint else None,
                start_step=checkpoint.state.step if checkpoint else 0,
                epochs_done=checkpoint.state.epochs_done if checkpoint else 0,
                measure=True,
                initial=self._initial,
                on_progress=self._events.phase,
            )
        self._describe_to(self._ledger, compiled)
        if checkpoint is not None:
            state = checkpoint.state
            restore_at(compiled, state.step, checkpoint.arrays, state.given)
            finish_statistics(compiled.built)
        elif self._initial is not None:
            self._log_initial(compiled, self._initial)
        self._log_features(compiled, self._ledger)
        return compiled, sizes, target

    def _describe_to(self, ledger: TimeLedger, compiled: Compiled) -> None:
        """Describes what advice on the time depends on."""
        recipe, layers = self._recipe, [layer for _, layer in compiled.built.pipeline]
        ledger.place = compiled.plan.pipeline
        is_augmenting = any(hasattr(layer, "generator") for layer in layers)
        # Behind cached features no image is augmented any more.
        ledger.is_augmenting = is_augmenting and compiled.features is None
        ledger.is_call_pinned = bool(recipe.steps_per_call)
        # Else the images that it gives up are trained on: the epoch gets longer.
        ledger.has_split = recipe.validation == "split" and bool(recipe.steps_per_epoch)

    def next_phase(self, ready: PreparedTraining, step: int, epochs_done: int) -> PreparedTraining:
        """The training of the next phase, of the network as it is after the one before.

        Raises:
            StoppedError: stopped meanwhile.
        """
        before = ready.compiled
        self._events.phase("building", "Preparing fine-tuning")
        with ready.ledger.spending("compile"):
            compiled = compile_training(
                self._project,
                ready.images,
                target=ready.target,
                sizes=ready.sizes,
                check=self._stop.check,
                plan=before.plan,
                initial=self._initial,
                start_step=step,
                epochs_done=epochs_done,
                on_progress=self._events.phase,
            )
            restore_at(compiled, step, snapshot(before.state_variables()))
            finish_statistics(compiled.built)
        self._log_phase(compiled)
        self._describe_to(ready.ledger, compiled)
        self._log_features(compiled, ready.ledger)
        return replace(ready, compiled=compiled)

    def _log_phase(self, compiled: Compiled) -> None:
        nodes = self._project.graph.nodes.values()
        tuned = sum(node.training == "fine_tuning" for node in nodes)
        rate = rate_text(compiled.phase.recipe.peak_rate)
        self._events.log_line(
            f"Fine-tuning: {plural(tuned, 'more layer')} of the network trained, at the learning "
            f"rate {rate}."
        )

    def _log_initial(self, compiled: Compiled, arrays: Arrays) -> None:
        found = fitting_layers(compiled.built, arrays)
        if not found.layers:
            raise WeightsError(
                "No layer can start from these weights.",
                where=self._run.name,
                received=f"other shapes for {', '.join(found.others[:6])}",
                expected="at least one layer with the same name and shapes",
                fix="Choose a run of this network, or train from new weights.",
            )
        others = f" Not from there: {', '.join(found.others)}." if found.others else ""
        self._events.log_line(
            f"Initial weights from {initial_words(self._run.request().initial)}: "
            f"{plural(len(found.layers), 'layer')}.{others}"
        )

    def _log_features(self, compiled: Compiled, ledger: TimeLedger) -> None:
        if compiled.features is not None:
            ledger.move(compiled.features.seconds, "compile", "features")
            self._events.log_line(compiled.features.words)

    def _log_split(self, limits: TargetLimits) -> None:
        """Warns where the batch does not suit the target; also of a run that was not checked."""
        for problem in check_split(self._recipe, limits):
            if problem.severity == "warning":
                self._events.log_line(f"{problem.title}. {problem.message}", level="warning")

    def _log_data(self, data: PreparedData, sizes: Sizes, replicas: int) -> None:
        if len(data.train) < self._recipe.batch_size:  # other reasons: `_log_split`
            why = f"there are {len(data.train):,} training images"
            if len(data.train) % replicas:
                why += f", and the batch is split over {replicas:,} replicas"
            self._events.log_line(
                f"Batch size {sizes.batch_size:,} instead of {self._recipe.batch_size:,}: {why}.",
                level="warning",
            )
        self._events.log(
            DataReady(
                class_names=list(data.class_names),
                num_train=len(data.train),
                num_validation=len(data.validation or ()),
                num_test=len(data.test or ()),
                steps_per_epoch=sizes.steps_per_epoch,
                bad_files=list(data.bad_files),
                split=marks_to_plain(data.marks),
                per_class=_per_class(data),
                num_shared=self._num_shared,
                validates_on_test=data.validation is not None and data.validation is data.test,
            )
        )


def _per_class(data: PreparedData) -> list[tuple[int, int, int]]:
    """For each class how many images train, validate and test."""
    count = len(data.class_names)
    parts = (data.train, data.validation, data.test)
    labels = [np.zeros(0, np.int64) if part is None else part.y for part in parts]
    counts = [np.bincount(each, minlength=count) for each in labels]
    return [(int(train), int(val), int(test)) for train, val, test in zip(*counts, strict=True)]


def model_card(
    project: Project,
    built: BuiltModel,
    *,
    title: str,
    class_names: Sequence[str],
    marks: SplitMarks | None = None,
) -> ModelCard:
    """The model card of a project's network but for what training adds to it. The marks are those
    that its data was split by. The value range is that of the project; training replaces it by
    the one that was found.
    """
    spec = all_datasets().get(project.dataset.key)
    given = str(project.dataset.params.get("range", ""))
    return ModelCard(
        title=title,
        class_names=list(class_names),
        input_shape=list(built.input_shape),
        fit=fit_of(project.dataset.params),
        value_range=given if read_range(given) is not None else "",
        graph=graph_to_plain(project.graph),
        is_logits=built.is_logits,
        dataset=_dataset_of(project, marks),
        dataset_title=spec.title if spec is not None else project.dataset.key,
        recipe=asdict(project.recipe),
        versions=versions(),
    )


def _dataset_of(project: Project, marks: SplitMarks | None) -> dict[str, Any]:
    """The data set of a project for its card, with the edits that its test images depend on."""
    edits = edits_to_plain(replace(project.edits, split=marks or project.edits.split))
    return {
        "key": project.dataset.key,
        "params": dict(project.dataset.params),
        **({"edits": edits} if edits else {}),
    }


def checked_input_shape(project: Project) -> Shape:
    """The shape (height, width, channels) that a project's Input requires.

    Raises:
        GraphError: the network cannot be trained; every reason is named.
    """
    analysis = analyse(
        project.graph, all_layers(), recipe=project.recipe, pretrained=pretrained_layer
    )
    analysis.refuse_errors()
    return analysis.shapes[input_nodes(project.graph, all_layers())[0].id]


def log_start(job: TrainingJob, ready: PreparedTraining, resumed_at: int | None) -> None:
    """Logs what runs where; `resumed_at` steps were done before, None from the start."""
    run, project, plan = job.run, job.project, ready.compiled.plan
    recipe = project.recipe
    job.events.log(
        RunStarted(
            run=str(run.path),
            target=project.target.key,
            replicas=ready.replicas,
            precision=plan.precision,
            seed=recipe.seed,
            versions=ready.machine.versions,
            plan=plan,
            epochs=ready.sizes.epochs,
            batch_size=ready.sizes.batch_size,
            per_core_batch=ready.sizes.batch_size // ready.replicas,
            pid=os.getpid(),
            resumed_at_step=resumed_at,
            bit_exact=None if resumed_at is None else list(ready.reasons) or True,
            keep_by=recipe.keep_by,
            keep=recipe.keep,
            on=run.request().on,
            fine_tuning_after=recipe.head_epochs if recipe.has_fine_tuning else None,
            is_on_features=ready.compiled.features is not None,
        )
    )
