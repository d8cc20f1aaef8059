"""LoadWeights: a project and a weights file, or the result of a notebook, become a run that
classifies.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace as replace_fields

from workbench.core.params import check_all
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import parse_project
from workbench.core.specs import LoadedData
from workbench.core.specs.dataset import edited_classes
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets import all_datasets
from workbench.errors import UsageError, WeightsError, WorkbenchError
from workbench.protocol.events import (
    Batch,
    BestEpoch,
    DataReady,
    EpochFinished,
    Plan,
    RunEvent,
    RunFinished,
    RunStarted,
    TestResult,
)
from workbench.protocol.messages import Done
from workbench.protocol.weights import (
    RESULT_ENDING,
    WEIGHTS_ENDINGS,
    LoadFindings,
    LoadWeights,
)
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.event_log import EventWriter
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.weights_file import Arrays, write_arrays
from workbench.worker.foreign.foreign_weights import read_any_card, read_foreign_weights
from workbench.worker.foreign.matching import Network
from workbench.worker.model.build import BuiltModel, assign_weights
from workbench.worker.process.setup import versions
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.class_order import (
    ask_order,
    chosen_words,
    class_orders,
    find_order,
    given_names,
    has_one_order,
    measure,
)
from workbench.worker.saved_models.keras_runner import build_whole, weights_layout
from workbench.worker.saved_models.notebook_result import (
    Result,
    ResultEpoch,
    as_trained,
    is_result,
    read_result,
    refuse_other_images,
)
from workbench.worker.trainer.setup import model_card

# notebook events -----------------------------------------------------------------------------
# The log of a run that a notebook has trained, out of the curve that it left.


def write_result_events(
    run: RunFolder, result: Result, recipe: TrainingRecipe, file_name: str
) -> None:
    """Writes the whole log of a new run, with the times that the epochs took in the notebook."""
    clock = _Clock(time.time() - result.card.seconds)
    with EventWriter(run.events_path, clock=clock) as log:
        log.write(_started(run, result, recipe, file_name))
        log.write(msgspec.convert(result.card, DataReady, from_attributes=True))
        for place, epoch in enumerate(result.history.epochs):
            clock.now += epoch.seconds
            for event in _of_epoch(result, place, epoch):
                log.write(event)
        log.write(finished_event(run.name, result))


class _Clock:
    """Time as it passed where the training was."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def _started(run: RunFolder, result: Result, recipe: TrainingRecipe, file_name: str) -> RunStarted:
    card = result.card
    cores = f"{card.replicas} × {card.device}" if card.replicas > 1 else card.device
    return RunStarted(
        run=run.name,
        target=f"a notebook ({cores})",
        replicas=card.replicas,
        precision=card.precision,
        seed=recipe.seed,
        versions=dict(card.versions),
        plan=Plan(precision=card.precision, words=f"Imported from {file_name}."),
        epochs=recipe.epochs,
        batch_size=card.batch_size,
        pid=0,
        keep_by=recipe.keep_by,
        keep=recipe.keep,
        fine_tuning_after=recipe.head_epochs if recipe.has_fine_tuning else None,
    )


def _of_epoch(result: Result, place: int, epoch: ResultEpoch) -> Iterator[RunEvent]:
    """The events of an epoch at a place among those that were trained."""
    steps = result.card.steps_per_epoch
    batches = slice(place * steps, (place + 1) * steps)
    losses, accuracies = result.history.losses[batches], result.history.accuracies[batches]
    yield Batch(
        epoch=epoch.epoch,
        step=epoch.step,
        loss=losses[-1],
        accuracy=accuracies[-1],
        images_per_second=epoch.images_per_second,
        first_step=epoch.step - steps + 1,
        losses=losses,
        accuracies=accuracies,
        learning_rate=epoch.learning_rate,
    )
    yield EpochFinished(**msgspec.structs.asdict(epoch))


def finished_event(run: str, result: Result) -> RunFinished:
    """What a trainer would have logged at the end."""
    card, epochs, test = result.card, result.history.epochs, result.history.test
    best = next((epoch for epoch in epochs if epoch.epoch == card.best_epoch), None)
    return RunFinished(
        outcome="completed",
        run=run,
        seconds=card.seconds,
        epochs_done=epochs[-1].epoch if epochs else 0,
        test=TestResult(**msgspec.structs.asdict(test)) if test else None,
        best=msgspec.convert(best, BestEpoch, from_attributes=True) if best else None,
    )


# load weights --------------------------------------------------------------------------------

_OWN_NAMES = "Uses the class names of the file; those of the data set differ."
_LEAST_CLASSES = 2
_NUMBERED = "The classes have numbers for names: neither the file nor the data set names them all."


def load_weights(job: Job, request: LoadWeights) -> Done:
    """Makes a new run out of a project and a weights file, all or nothing. What was inferred about
    the file is sent before.

    Raises:
        ProjectFileError: the project text is damaged.
        WeightsError: the file is damaged, or of another network: all that differs is listed.
        LayerOrderError, ClassOrderError: that order has to be given.
        UsageError: an order or names that cannot be.
    """
    path = _checked(Path(request.weights))
    project = parse_project(request.project, "the project")
    job.progress(f"Loading {path.name}")
    result = read_result(path) if is_result(path) else None
    project = project if result is None else as_trained(project, result)
    job.keras()
    built = build_whole(project.graph, "the project")
    by_order = result is not None or request.layer_order == "file"  # a result is ours
    network = weights_layout(built)
    weights = read_foreign_weights(path, network, by_order=by_order)
    assign_weights(built, weights.arrays)
    own = result.card.class_names if result is not None else _names_inside(path)
    other = "" if result is None else refuse_other_images(job, project, built.input_shape, result)
    names, note, found = _class_names(job, request, own, project, built)
    if result is None:
        doubts = [*weights.doubts, *_output_doubts(network)]
        found = replace_fields(found, matched_by=weights.matched_by, doubts=doubts)
    job.send(found)
    if names is None:
        raise ask_order(found, str(path))
    job.check_cancelled()
    title = f"{project.title or 'Weights'} ({path.name})"
    card = model_card(project, built, title=title, class_names=names)
    card = card if result is None else _with_scores(card, result, project)
    folder = Path(request.run) if request.run else None
    run = create_run(project, title=card.title, label=path.name, path=folder)
    _fill(run, project, path, card=card, arrays=weights.arrays, result=result)
    words = f"{'Imported' if result is not None else 'Loaded weights from'} {path.name}."
    text = " ".join(filter(None, (words, *found.doubts, note, other)))
    return Done(id=job.id, text=text, path=str(run.path))


def _output_doubts(network: Network) -> Iterator[str]:
    """That softmax makes other probabilities of the outputs than their own function does."""
    last = network.calls[-1] if network.calls else None
    if last is not None and not last.path:
        yield (
            f"The network ends with {last.label[0]}: the probabilities are those of a softmax over "
            "its outputs, not the outputs themselves."
        )


def _with_scores(card: ModelCard, result: Result, project: Project) -> ModelCard:
    """The model card as a trainer would have written it at the end of this curve."""
    finished = finished_event("", result)
    is_best = project.recipe.keep == "best" and result.card.best_epoch > 0
    return msgspec.structs.replace(
        card,
        precision=result.card.precision,
        versions=dict(result.card.versions),
        epochs_done=finished.epochs_done,
        kept_epoch=result.card.best_epoch if is_best else finished.epochs_done,
        best=finished.best,
        test=finished.test,
    )


def _checked(path: Path) -> Path:
    """The path; raises WeightsError where it is not that of weights."""
    if not path.name.lower().endswith((*WEIGHTS_ENDINGS, RESULT_ENDING)):
        raise WeightsError(
            "This is not a weights file.",
            where=str(path),
            received=path.suffix or "no file extension",
            expected=f"a file that ends in {', '.join(WEIGHTS_ENDINGS)}, or the results of a "
            f"notebook ({RESULT_ENDING})",
        )
    return path


def _class_names(
    job: Job, request: LoadWeights, own: Sequence[str], project: Project, built: BuiltModel
) -> tuple[list[str] | None, str, LoadFindings]:
    """A name for each output, a note to the user about them, and what was found out: the names that
    the request gives; the file's `own` names, where it has some; else those of the project's data
    set. No names where their order has to be given.

    Raises:
        WeightsError: the file names another number of classes than there are outputs.
        UsageError: the user does, or a name is empty or there twice, or is none of the images'
            classes; or there is no such order.
    """
    units, found = _num_outputs(built), LoadFindings(id=job.id)
    if request.class_names:
        _check_told(request.class_names, units)
        given, note = given_names(request.class_names, names_of_data(job, project))
        _check_told(given, units)
        return given, note, found
    if own and len(own) != units:
        raise WeightsError(
            "The number of class names in the file does not match the model.",
            received=f"{len(own)} names",
            expected=f"{units}, one per output of the last layer",
        )
    data = _data_at_hand(job, project)
    of_data = names_of_data(job, project) if data is None else _edited_names(data, project)
    if own and not request.class_order:
        differ = len(of_data) == units and list(of_data) != list(own)
        return list(own), _OWN_NAMES if differ else "", found
    if len(of_data) != units:
        return [f"class {number}" for number in range(units)], _NUMBERED, found
    originals = of_data if data is None else data.class_names
    orders = class_orders(of_data, originals, project.edits.classes)
    card = model_card(project, built, title="", class_names=list(of_data))
    measured = measure(job, project, data, built, card) if data is not None else None
    found = find_order(request, orders, measured, has_one=has_one_order(project))
    names = next((order.names for order in found.orders if order.key == found.chosen), None)
    return names, chosen_words(found), found


def _num_outputs(built: BuiltModel) -> int:
    """The units of the last layer; raises WeightsError where these are no classes."""
    units = int(built.model.output_shape[-1])
    if units < _LEAST_CLASSES:
        raise WeightsError(
            "The network has one output. A classifier needs one for each class.",
            received=f"a last layer with {units} unit",
            expected="a last layer with a unit for each class",
            fix="Two classes by one sigmoid unit are the same as two units of softmax, with the "
            "weights 0 and those of the unit: give the last layer these in Keras, and save it.",
        )
    return units


def _check_told(names: Sequence[str], units: int) -> None:
    if len(names) != units or len({*names}) != units or not all(map(str.strip, names)):
        raise UsageError(
            "These class names do not match the model.",
            received=f"{len(names)} names, {len({*names})} different",
            expected=f"{units} different names, one per output of the last layer",
        )


def _names_inside(path: Path) -> Sequence[str]:
    if path.suffix.lower() != ".keras":
        return ()
    try:
        return read_any_card(path).class_names
    except WorkbenchError:  # plain Keras wrote it: there is no card of ours inside
        return ()


def names_of_data(job: Job, project: Project) -> Sequence[str]:
    """The class names of a project's data set; () where it is not at hand."""
    spec = all_datasets().get(project.dataset.key)
    if spec is not None and (
        spec.class_names or spec.needs_download or spec.addresses(project.dataset.params)
    ):
        return edited_classes(spec.class_names, project.edits.classes).names
    data = _data_at_hand(job, project)
    return () if data is None else _edited_names(data, project)


def _edited_names(data: LoadedData, project: Project) -> Sequence[str]:
    return edited_classes(data.class_names, project.edits.classes).names


def _data_at_hand(job: Job, project: Project) -> LoadedData | None:
    """A project's data set, before the user's edits; None where it would have to be fetched, or
    cannot be read.
    """
    spec = all_datasets().get(project.dataset.key)
    if spec is None or spec.not_kept() or spec.addresses(project.dataset.params):
        return None
    params, errors = check_all(spec.params, project.dataset.params)
    if errors:
        return None
    try:
        return spec.load(job, params)
    except WorkbenchError as error:  # the data may be elsewhere: weights load all the same
        job.progress(f"The class names of the data set are unknown: {error.what}")
        return None


def _fill(
    run: RunFolder,
    project: Project,
    path: Path,
    *,
    card: ModelCard,
    arrays: Arrays,
    result: Result | None,
) -> None:
    """Writes weights, log and card of a new run; removes its folder when that fails half-way."""
    try:
        checksum = write_arrays(run.weights_path, arrays)
        if result is not None:
            write_result_events(run, result, project.recipe, path.name)
        else:
            _write_events(run, project, path)
        # Last: a run is one that classifies as soon as it has a card.
        write_card(run.path, msgspec.structs.replace(card, checksum=checksum))
    except BaseException:
        shutil.rmtree(run.path, ignore_errors=True)
        raise


def _write_events(run: RunFolder, project: Project, path: Path) -> None:
    """Writes a log as of a training of no epochs, so that the list of runs shows what this is."""
    started = time.monotonic()
    with EventWriter(run.events_path) as log:
        log.write(
            RunStarted(
                run=run.name,
                target=project.target.key,
                precision="float32",
                seed=project.recipe.seed,
                versions=versions(),
                plan=Plan(precision="float32", words=f"Weights loaded from {path.name}."),
                epochs=0,
                batch_size=project.recipe.batch_size,
                pid=0,
            )
        )
        seconds = time.monotonic() - started
        log.write(RunFinished(outcome="completed", run=run.name, seconds=seconds, epochs_done=0))
