"""What differs between two runs, and by how much: values in words, for the window and the
command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from workbench.core.format import duration
from workbench.core.params import Param
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.datasets import all_datasets
from workbench.errors import RunFolderError
from workbench.protocol.events import DataReady, RunStarted
from workbench.protocol.trained.evaluate import ImageSet
from workbench.runs.folder import Extensions, RunFolder
from workbench.runs.library.compare_images import (
    ComparedAccuracy,
    ComparedEdits,
    ComparedImages,
    ComparedTests,
    ImageScores,
    compare_accuracy,
    compare_counts,
    compare_edits,
    compare_images,
    proven_by_edits,
    scores_of,
)
from workbench.runs.library.projects import full_name
from workbench.runs.library.summary import RunSummary, summarise
from workbench.runs.log.event_log import EventReader, first_of
from workbench.runs.log.history import MetricHistory
from workbench.runs.naming import Row, graph_rows
from workbench.runs.state.outcome import outcome_words
from workbench.runs.store.checkpoint import Provenance, read_origin
from workbench.runs.store.weights_file import initial_words
from workbench.targets import all_targets

NOTHING = "–"

_DATA_TITLES = {
    "num_train": "Training images",
    "num_validation": "Validation images",
    "num_test": "Test images",
    "steps_per_epoch": "Steps per epoch",
}
_PLAN_TITLES = {
    "xla": "XLA compilation",
    "steps_per_call": "Steps per execution",
    "pipeline": "Data cached in",
}


@dataclass(frozen=True)
class Section:
    """One aspect of two runs.

    Attributes:
        key: graph, recipe, data, seed, plan, machine, versions or results.
        title: The same for people.
        rows: What differs; of the results all figures.
        note: Why nothing can be compared, where a run has not logged it; else "".
    """

    key: str
    title: str
    rows: tuple[Row, ...] = ()
    note: str = ""

    @property
    def is_equal(self) -> bool:
        """True when nothing differs, as far as it is known; see `note`."""
        return all(row.is_equal for row in self.rows)


@dataclass(frozen=True)
class RunComparison:
    """Two runs side by side.

    Attributes:
        left, right: Their lines of the list.
        edits: How the data edits of their projects differ.
        accuracy: Whether one of them is better by more than chance; None where that is not known.
        sections: The results, then what led to them, in the order in which a run comes about.
    """

    left: RunSummary
    right: RunSummary
    edits: ComparedEdits
    sections: tuple[Section, ...] = ()
    accuracy: ComparedAccuracy | None = None

    @property
    def is_equal(self) -> bool:
        """True when request and execution of the runs are the same; results apart."""
        return all(section.is_equal for section in self.sections if section.key != "results")

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON values."""
        return {
            "runs": [
                {"run": str(run.path), "title": run.title, "outcome": run.outcome}
                for run in (self.left, self.right)
            ],
            "is_equal": self.is_equal,
            "data_edits": self.edits.to_dict(),
            "accuracy": self.accuracy.to_dict() if self.accuracy is not None else None,
            "sections": {
                section.key: {
                    "title": section.title,
                    "is_equal": section.is_equal,
                    "note": section.note,
                    "rows": [asdict(row) for row in section.rows],
                }
                for section in self.sections
            },
        }


@dataclass(frozen=True)
class _Side:
    """What is known of one run; `history` is all that was logged, as the end of a log does not say
    how long which of its trainers has tested; `extended` is how often it was trained longer, in
    words, and `initial` where its initial weights are from. `scores` are of its test images, None
    where none are kept.
    """

    summary: RunSummary
    history: MetricHistory
    project: Project
    started: RunStarted | None
    data: DataReady | None
    origin: Provenance | None
    extended: str
    initial: str
    scores: ImageScores | None


def compare_runs(left: RunFolder, right: RunFolder) -> RunComparison:
    """Compares two runs; either may still train. Raises RunFolderError or ProjectFileError where
    one is no run, or its request or project is damaged.
    """
    a, b = _side(left), _side(right)
    seeds = [("Seed", a.project.recipe.seed, b.project.recipe.seed)]
    initial = _differing([("Initial weights from", a.initial, b.initial)])
    images = compare_images(a.scores, b.scores) if a.scores and b.scores else None
    results = (*_result_rows(a, b), *_image_rows(images))
    edits = compare_edits(a.project.edits, b.project.edits, _compare_tests(a, b, images))
    sections = (
        Section("results", "Results", results),
        Section("graph", "Model", tuple(graph_rows(a.project.graph, b.project.graph))),
        Section("recipe", "Training settings", (*_recipe_rows(a.project, b.project), *initial)),
        Section("data", "Data", (*_data_rows(a, b), *edits.rows)),
        Section("seed", "Seed", _differing(seeds)),
        Section("plan", "Execution", tuple(_plan_rows(a, b)), _note("started", a, b)),
        Section("machine", "Machine", tuple(_machine_rows(a, b)), _note("origin", a, b)),
        Section("versions", "Versions", tuple(_version_rows(a, b)), _note("started", a, b)),
    )
    return RunComparison(a.summary, b.summary, edits, sections, _accuracy(a, b, images, edits))


def _accuracy(
    left: _Side, right: _Side, images: ComparedImages | None, edits: ComparedEdits
) -> ComparedAccuracy | None:
    """Compares accuracies on the test images that both have predicted, else on the validation
    images, else by the numbers of their test images.
    """
    found = compare_accuracy(left.summary, right.summary, images, "test")
    if found is None:
        a, b = (_scores(RunFolder(side.summary.path), "validation") for side in (left, right))
        images = compare_images(a, b) if a is not None and b is not None else None
        found = compare_accuracy(left.summary, right.summary, images, "validation")
    if found is not None:
        return found
    digests = {side.origin.data.digest for side in (left, right) if side.origin is not None}
    is_other = len(digests) > 1 or bool(edits.tests and edits.tests.images_differ)
    first, second = (side.data.num_test if side.data else 0 for side in (left, right))
    return compare_counts(left.summary, right.summary, (first, second), is_other=is_other)


def compare_projects(left: Project, right: Project) -> tuple[Section, ...]:
    """What makes `left` into `right`: network, recipe, data set, target and title."""
    recipes = (asdict(left.recipe), asdict(right.recipe))
    chosen = (
        *_choice_rows(all_datasets(), "Data set", left.dataset, right.dataset),
        *_choice_rows(all_targets(), "Target", left.target, right.target),
        *_fields_differing({"title": "Title", "summary": "Summary"}, left, right),
    )
    return (
        Section("graph", "Network", tuple(graph_rows(left.graph, right.graph))),
        Section("recipe", "Training settings", tuple(_params_differing(RECIPE_PARAMS, *recipes))),
        Section("project", "Project", chosen),
    )


def _note(what: str, left: _Side, right: _Side) -> str:
    silent = [side for side in (left, right) if getattr(side, what) is None]
    return ("", "not logged by one run", "not logged by these runs")[len(silent)]


def _side(run: RunFolder) -> _Side:
    project = run.request().to_project()
    summary = summarise(run)
    if summary is None:
        raise RunFolderError("This is not a run folder.", where=str(run.path))
    return _Side(
        summary,
        _history(run),
        project,
        first_of(run.events_path, RunStarted),
        first_of(run.events_path, DataReady),
        read_origin(run),
        _extended_words(run.extensions()),
        initial_words(run.request().initial),
        _scores(run),
    )


def _history(run: RunFolder) -> MetricHistory:
    history, reader = MetricHistory(), EventReader(run.events_path)
    while events := reader.read_new():
        history.add_all(events)
    return history


def _scores(run: RunFolder, part: ImageSet = "test") -> ImageScores | None:
    try:
        return scores_of(run, part)
    except RunFolderError:
        return None


def _extended_words(extensions: Extensions) -> str:
    """Epochs after which a run was trained longer: "after epoch 2 of 2, after epoch 4 of 4"; "" for
    nowhere.
    """
    return ", ".join(f"after epoch {one.after:,} of {one.before:,}" for one in extensions.entries)


def _words(value: Any) -> str:
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _differing(values: list[tuple[str, Any, Any]]) -> tuple[Row, ...]:
    return tuple(
        Row(title, _words(left), _words(right)) for title, left, right in values if left != right
    )


def _fields_differing(titles: Mapping[str, str], left: Any, right: Any) -> tuple[Row, ...]:
    """Rows of the attributes (by name, with their titles) that are not the same."""
    return _differing([(t, getattr(left, key), getattr(right, key)) for key, t in titles.items()])


def _all_differing(left: Mapping[str, Any], right: Mapping[str, Any]) -> tuple[Row, ...]:
    return _differing([(key, left.get(key), right.get(key)) for key in sorted({*left, *right})])


def _params_differing(
    params: tuple[Param, ...], left: Mapping[str, Any], right: Mapping[str, Any]
) -> Iterator[Row]:
    for param in params:
        a, b = left.get(param.key, param.default), right.get(param.key, param.default)
        if a != b:
            yield Row(param.title, param.show(a), param.show(b))


def _recipe_rows(left: Project, right: Project) -> Iterator[Row]:
    params = tuple(param for param in RECIPE_PARAMS if param.key != "seed")
    a, b = asdict(left.recipe), asdict(right.recipe)
    yield from _params_differing(params, a, b)


def _choice_rows(
    specs: Mapping[str, Any], title: str, left: Choice, right: Choice
) -> Iterator[Row]:
    spec = specs.get(left.key)
    if left.key != right.key or spec is None:
        names = [specs[c.key].title if c.key in specs else c.key for c in (left, right)]
        if left != right:
            yield Row(title, *names)
        return
    yield from _params_differing(spec.params, left.params, right.params)


def _data_rows(left: _Side, right: _Side) -> Iterator[Row]:
    yield from _choice_rows(all_datasets(), "Source", left.project.dataset, right.project.dataset)
    a, b = left.data, right.data
    if a is not None and b is not None:
        yield from _fields_differing(_DATA_TITLES, a, b)
        yield from _differing([("Classes", len(a.class_names), len(b.class_names))])
        yield from _differing([("Skipped files", len(a.bad_files), len(b.bad_files))])
        if len(a.class_names) == len(b.class_names):
            pairs = zip(a.class_names, b.class_names, strict=True)
            named = [(f"Class {i}", x, y) for i, (x, y) in enumerate(pairs, 1)]
            yield from _differing(named)
    if left.origin is not None and right.origin is not None:
        digests = (left.origin.data.digest[:12], right.origin.data.digest[:12])
        yield from _differing([("Checksum of the images", *digests)])


def _plan_rows(left: _Side, right: _Side) -> Iterator[Row]:
    yield from _choice_rows(all_targets(), "Target", left.project.target, right.project.target)
    yield from _differing([("Trained longer", left.extended, right.extended)])
    a, b = left.started, right.started
    if a is None or b is None:
        return
    yield from _fields_differing({"precision": "Precision"}, a, b)
    yield from _fields_differing(_PLAN_TITLES, a.plan, b.plan)
    threads = [one.plan.threads or "all cores" for one in (a, b)]
    yield from _differing([("CPU threads", threads[0], threads[1])])
    yield from _fields_differing({"batch_size": "Batch size", "replicas": "Replicas"}, a, b)


def _machine_rows(left: _Side, right: _Side) -> Iterator[Row]:
    if left.origin is None or right.origin is None:
        return
    a, b = left.origin.machine, right.origin.machine
    yield from _fields_differing({"cpu": "CPU", "cores": "Cores"}, a, b)
    only = [sorted({*one.flags} - {*other.flags}) for one, other in ((a, b), (b, a))]
    if any(only):
        yield Row("CPU instructions only there", *(" ".join(flags) or NOTHING for flags in only))
    yield from _all_differing(a.settings, b.settings)


def _version_rows(left: _Side, right: _Side) -> tuple[Row, ...]:
    if left.started is None or right.started is None:
        return ()
    return _all_differing(left.started.versions, right.started.versions)


def _result_rows(left: _Side, right: _Side) -> Iterator[Row]:
    outcomes = (outcome_words(side.summary.outcome) for side in (left, right))
    yield Row("Outcome", *outcomes)
    figures: tuple[tuple[str, Callable[[_Side], float | None], _Figure], ...] = (
        ("Test accuracy", lambda side: side.summary.test_accuracy, _SHARE),
        ("Val. accuracy of the saved weights", lambda side: side.summary.val_accuracy, _SHARE),
        ("Best val. accuracy", lambda side: side.summary.best_val_accuracy, _SHARE),
        ("Val. loss of the best epoch", lambda side: side.summary.best_loss, _LOSS),
        ("Epochs", lambda side: side.summary.epochs_done, _COUNT),
        ("Training time", lambda side: side.history.training_s or None, _SECONDS),
        ("Calibration and test", lambda side: side.history.after_s or None, _SECONDS),
        ("Images per second", lambda side: side.history.images_per_second, _RATE),
        ("Parameters", lambda side: side.summary.parameters, _COUNT),
    )
    for title, value, figure in figures:
        a, b = value(left), value(right)
        difference = figure.compare(a, b) if a is not None and b is not None and a != b else ""
        yield Row(title, figure.words(a), figure.words(b), difference)


def _image_rows(found: ComparedImages | None) -> Iterator[Row]:
    """Images that one run has right and the other wrong, where both have kept the predictions;
    those that have not the same label in both are counted apart.
    """
    if found is None or not found.is_common.any():
        return
    only = [f"{int(marks.sum()):,}" for marks in (found.is_gained, found.is_lost)]
    yield Row("Test images right in this run alone", *only)
    if found.is_relabeled.any():
        yield Row("Test images labeled differently", NOTHING, f"{int(found.is_relabeled.sum()):,}")


def _compare_tests(
    left: _Side, right: _Side, images: ComparedImages | None
) -> ComparedTests | None:
    """Whether two tests are of the same images and labels; None where there are not two."""
    if any(side.summary.test_accuracy is None and not side.scores for side in (left, right)):
        return None
    both = [side.scores.images for side in (left, right) if side.scores is not None]
    if images is not None:
        is_other = both[0].contents != both[1].contents or len(both[0]) != len(both[1])
        return ComparedTests(bool(images.is_relabeled.any()), is_other)
    known = {content for each in both for content in each.contents}
    return proven_by_edits(left.project.edits, right.project.edits, known.__contains__)


@dataclass(frozen=True)
class _Figure:
    """How a figure is written, and what the step from one to another is called."""

    show: Callable[[float], str]
    compare: Callable[[float, float], str]

    def words(self, value: float | None) -> str:
        return NOTHING if value is None else self.show(value)


def _ratio(left: float, right: float) -> str:
    """How many times as much; nothing where that is as good as once."""
    if left <= 0 or right <= 0:
        return f"{right - left:+,.4g}"
    words = f"{right / left:.3g}"
    return "" if words == "1" else f"{words}×"


_SHARE = _Figure(lambda x: f"{100 * x:.1f}%", lambda a, b: f"{100 * (b - a):+.2f} points")
_LOSS = _Figure(lambda x: f"{x:.4f}", lambda a, b: f"{b - a:+.4f}")
_COUNT = _Figure(lambda x: f"{x:,.0f}", lambda a, b: f"{b - a:+,.0f}")
_SECONDS = _Figure(duration, _ratio)
_RATE = _Figure(lambda x: f"{x:,.0f}", _ratio)


# compare many --------------------------------------------------------------------------------
# More than two runs side by side, each against the first.


@dataclass(frozen=True)
class ManyRow:
    """One thing of several runs, in words: a value for each run."""

    title: str
    values: tuple[str, ...]

    @property
    def is_equal(self) -> bool:
        """True when all are the same."""
        return len(set(self.values)) == 1


@dataclass(frozen=True)
class ManySection:
    """One aspect of several runs, see `compare.Section`.

    Attributes:
        notes: Sentences about each run beside the first: in the section of the data, how its edits
            differ; in that of the results, whether it is better or worse by more than chance.
    """

    key: str
    title: str
    rows: tuple[ManyRow, ...]
    notes: tuple[str, ...] = ()


def compare_many(runs: Sequence[RunFolder]) -> tuple[list[RunSummary], list[ManySection]]:
    """Compares at least two runs; raises as `compare_runs`."""
    pairs = [compare_runs(runs[0], other) for other in runs[1:]]
    sections = [
        ManySection(
            section.key,
            section.title,
            _rows(pairs, section.key),
            _notes(pairs, section.key),
        )
        for section in pairs[0].sections
    ]
    return [pairs[0].left, *(pair.right for pair in pairs)], sections


def _notes(pairs: Sequence[RunComparison], key: str) -> tuple[str, ...]:
    """Without their periods."""
    if key == "results":
        found = (pair.accuracy for pair in pairs)
        first = full_name(pairs[0].left)
        against = [
            f"{full_name(pair.right)} against {first}: {each.words.removesuffix('.')}"
            for pair, each in zip(pairs, found, strict=True)
            if each is not None
        ]
        return tuple(against)
    return _edit_notes(pairs) if key == "data" else ()


def _edit_notes(pairs: Sequence[RunComparison]) -> tuple[str, ...]:
    return tuple(
        f"{full_name(pair.right)}: {pair.edits.words}" for pair in pairs if pair.edits.words
    )


def _rows(pairs: Sequence[RunComparison], key: str) -> tuple[ManyRow, ...]:
    """The rows of a section: where a pair has none of a title, its runs are the same in that."""
    found = [
        {row.title: row for section in pair.sections if section.key == key for row in section.rows}
        for pair in pairs
    ]
    titles = dict.fromkeys(title for rows in found for title in rows)
    merged = []
    for title in titles:
        first = next((rows[title].left for rows in found if title in rows), NOTHING)
        others = [rows[title].right if title in rows else first for rows in found]
        merged.append(ManyRow(title, (first, *others)))
    return tuple(merged)
