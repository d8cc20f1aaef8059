"""The list of all runs, fast: the figures of runs that are over are kept in one file.

The file is a cache: deleted, damaged or of another version, it is made again from the
folders. A run is read again when its log or its notes are not those of its line.
"""

from __future__ import annotations

import contextlib
import json
import operator
import os
import re
import zipfile
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

import msgspec

from workbench.core.storage.foreign_file import is_folder, open_foreign, read_foreign
from workbench.core.storage.json_file import DAMAGED
from workbench.core.storage.own_file import refuse_link
from workbench.core.storage.save import save_bytes
from workbench.errors import LinkFoundError, RunFolderError, SaveError, os_errors_as
from workbench.runs.folder import RunFolder
from workbench.runs.home import runs_home
from workbench.runs.library.projects import as_called_now
from workbench.runs.library.summary import SUMMARY_VERSION, RunSummary, summarise
from workbench.runs.state.queue import MARKER_NAME, outside_runs, place_text
from workbench.runs.store.notes import NOTES_NAME

# filter --------------------------------------------------------------------------------------
# Finding runs by a few words, for the window's filter and `workbench runs --filter`.
#
# flowers cosine      both words, in project, name, title, tags, note, data, outcome or folder name
# "two words"         this exact text
# -failed             not this
# tag:paper           has this tag
# outcome:failed      data:cifar   project:...   title:...   note:...   only there
# acc>0.8   acc>80    test accuracy, else the best validation accuracy; also %, >=, <, <=, =
# val>0.9   loss<0.5  epochs>=10   seconds<600   images>3000   parameters<100000

Test = Callable[[RunSummary], bool]

_TERM = re.compile(r'-?(?:[^\s":]+:)?"[^"]*"?|\S+')
_COMPARISON = re.compile(r"([a-z_]+)(>=|<=|>|<|=)([0-9.]+(?:e-?[0-9]+)?)(%?)$", re.IGNORECASE)
_LOOKS_LIKE_ONE = re.compile(r"[a-z_]+(>=|<=|>|<)[^\s\"]*$", re.IGNORECASE)
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
}


def _outcome(run: RunSummary) -> str:
    """Outcome for a text filter: as JSON names it, and as people read it."""
    return f"{run.outcome} {run.state}"


def _accuracy(run: RunSummary) -> float | None:
    return run.test_accuracy if run.test_accuracy is not None else run.val_accuracy


_SHARES: dict[str, Callable[[RunSummary], float | None]] = {
    "acc": _accuracy,
    "accuracy": _accuracy,
    "test": lambda run: run.test_accuracy,
    "val": lambda run: run.val_accuracy,
}
_FIGURES: dict[str, Callable[[RunSummary], float | None]] = {
    **_SHARES,
    "loss": lambda run: run.best_loss,
    "epochs": lambda run: run.epochs_done,
    "seconds": lambda run: run.seconds,
    "images": lambda run: run.images_per_second,
    "parameters": lambda run: run.parameters,
}
_TEXTS: dict[str, Callable[[RunSummary], str]] = {
    "outcome": _outcome,
    "data": lambda run: run.dataset,
    "dataset": lambda run: run.dataset,
    "title": lambda run: run.title,
    "project": lambda run: run.project,
    "note": lambda run: run.note,
    "name": lambda run: run.name,
}


def matches(run: RunSummary, text: str) -> bool:
    """Whether a run matches `text`; all words must fit.

    Pure and cheap: fit for a list of thousands at each key press. Words that make no sense as a
    comparison are looked for as words.
    """
    return all(test(run) for test in _tests(text))


def wrong_comparisons(text: str) -> list[str]:
    """Terms that look like a comparison and are none, such as "acc>x" or "color>3"."""
    terms = (term.lstrip("-") for term in _TERM.findall(text))
    return [term for term in terms if _LOOKS_LIKE_ONE.match(term) and _comparison(term) is None]


def comparable() -> tuple[str, ...]:
    """What comparisons can be made with, such as "acc"."""
    return tuple(_FIGURES)


@lru_cache(maxsize=64)
def _tests(text: str) -> tuple[Test, ...]:
    return tuple(_test_of(term) for term in _TERM.findall(text))


def _test_of(term: str) -> Test:
    if term.startswith("-") and len(term) > 1:
        inner = _test_of(term[1:])
        return lambda run: not inner(run)
    return _comparison(term) or _in_field(term) or _anywhere(term)


def _comparison(term: str) -> Test | None:
    match = _COMPARISON.match(term)
    if match is None:
        return None
    key, sign, digits, percent = match.groups()
    figure, compare = _FIGURES.get(key.lower()), _OPERATORS[sign]
    try:
        wanted = float(digits)
    except ValueError:
        return None
    if figure is None:
        return None
    if percent or (key.lower() in _SHARES and wanted > 1):
        wanted /= 100

    def test(run: RunSummary) -> bool:
        value = figure(run)
        return value is not None and compare(value, wanted)

    return test


def _in_field(term: str) -> Test | None:
    key, colon, value = term.partition(":")
    wanted = _plain(value)
    if not colon or not wanted:
        return None
    if key.lower() == "tag":
        return lambda run: any(tag.casefold() == wanted for tag in run.tags)
    field = _TEXTS.get(key.lower())
    if field is None:
        return None
    return lambda run: _is_in(wanted, field(run))


def _anywhere(term: str) -> Test:
    wanted = _plain(term)

    def test(run: RunSummary) -> bool:
        texts = (
            run.project,
            run.label,
            run.title,
            *run.tags,
            run.note,
            run.dataset,
            _outcome(run),
            run.name,
        )
        return any(_is_in(wanted, text) for text in texts)

    return test


def _plain(term: str) -> str:
    return term.replace('"', "").casefold()


def _is_in(wanted: str, text: str) -> bool:
    """Also “cifar10” in “CIFAR-10”: a hyphen is easily forgotten."""
    folded = text.casefold()
    return wanted in folded or wanted in folded.replace("-", "")


# foreign model -------------------------------------------------------------------------------
# What a file or folder is that should classify and is neither a run nor exported by Workbench.

_HEAD_BYTES = 64
_MOST_JSON_BYTES = 1 << 20
_ONNX_FIELDS = (0x12, 0x1A, 0x22, 0x3A, 0x42)
"""What follows the version in a file of ONNX: names of its producer, a graph, sets of operators."""

_HDF5 = "an HDF5 file, such as weights or a model of Keras (.h5)"
_LOAD = (
    "A run is made of it in a project with its network: in the window by File > Load weights, in a "
    "terminal by `workbench load PROJECT FILE`."
)
_SCRIPT = (
    "If Workbench exported it, run the classify.py of its ready folder, or classify with the run "
    "that it was exported from. Otherwise load the Keras file (.keras, .h5) that it was made of: "
    "in the window by File > Load weights, in a terminal by `workbench load PROJECT FILE`."
)


def refuse_foreign(path: Path) -> None:
    """Raises RunFolderError for a model of another kind, with what it is by its content, and what
    can be done with it; returns for anything else.
    """
    found = _kind(path)
    if found is None:
        return
    what, fix = found
    raise RunFolderError(
        "This is neither a run nor a model that Workbench can classify with.",
        where=str(path),
        received=what,
        expected="a run, or a .keras file that Workbench has exported",
        fix=fix,
    )


def _kind(path: Path) -> tuple[str, str] | None:
    """What it is, and what to do; None where it is not known."""
    try:
        return _folder_kind(path) if path.is_dir() else _file_kind(path)
    except OSError:  # the next to open it reports why it cannot be read
        return None


def _folder_kind(path: Path) -> tuple[str, str] | None:
    if (path / "saved_model.pb").is_file() or (path / "saved_model.pbtxt").is_file():
        return "a SavedModel folder of TensorFlow", _SCRIPT
    if (path / "model.json").is_file() and _is_tensorflowjs(path / "model.json"):
        return "a model of TensorFlow.js", _SCRIPT
    return None


def _file_kind(path: Path) -> tuple[str, str] | None:
    with open_foreign(path) as file:
        head = file.read(_HEAD_BYTES)
    if head.startswith(b"PK"):
        return _archive_kind(path)
    is_json = head.startswith(b"{")
    kinds = (
        (head.startswith(b"\x89HDF\r\n\x1a\n"), _HDF5, _LOAD),
        (head[4:8] == b"TFL3", "a TensorFlow Lite (LiteRT) model", _SCRIPT),
        (path.name == "saved_model.pb", "the graph of a SavedModel folder of TensorFlow", _SCRIPT),
        (is_json and _is_tensorflowjs(path), "a model of TensorFlow.js", _SCRIPT),
        (_is_onnx(head), "an ONNX model", _SCRIPT),
        (_is_pickle(head, path), "a pickled object of Python, such as a PyTorch model", _SCRIPT),
    )
    return next(((what, fix) for is_it, what, fix in kinds if is_it), None)


def _is_onnx(head: bytes) -> bool:
    is_version = head[:1] == b"\x08" and head[1:2] < b"\x20"
    return is_version and len(head) > 2 and head[2] in _ONNX_FIELDS


def _is_pickle(head: bytes, path: Path) -> bool:
    return head.startswith(b"\x80") and path.suffix.lower() in (".pt", ".pth", ".pkl")


def _archive_kind(path: Path) -> tuple[str, str] | None:
    try:
        with open_foreign(path) as file, zipfile.ZipFile(file) as archive:
            members = {*archive.namelist()}
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return None
    kinds = (
        ("workbench.json" in members, "", ""),
        ("model.weights.h5" in members, "a model that Keras saved (.keras)", _LOAD),
        ("weights.weights.h5" in members, "the result of a notebook", _LOAD),
        (any(name.endswith("data.pkl") for name in members), "a model of PyTorch", _SCRIPT),
        (True, "a ZIP archive without a model of Keras", _SCRIPT),
    )
    what, fix = next((what, fix) for is_it, what, fix in kinds if is_it)
    return (what, fix) if what else None


def _is_tensorflowjs(path: Path) -> bool:
    try:
        plain = json.loads(read_foreign(path, _MOST_JSON_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(plain, dict) and "modelTopology" in plain


# index ---------------------------------------------------------------------------------------

__all__ = ["INDEX_NAME", "RunSummary", "index_problem", "list_runs", "matches", "summarise"]

INDEX_NAME = ".runs-index"
_MOST_BYTES = 64 * 1024 * 1024
"""Room for 20,000 runs with long notes."""

Stamp = tuple[int, int, int, int]
"""Size and time of the event log, time and file number of the notes; 0 where there is none."""


class _Line(msgspec.Struct, frozen=True, array_like=True):
    stamp: Stamp
    summary: RunSummary


class _Index(msgspec.Struct, frozen=True, array_like=True):
    version: int
    lines: dict[str, _Line]


_encoder = msgspec.msgpack.Encoder(enc_hook=str)  # a Path
_decoder = msgspec.msgpack.Decoder(_Index, dec_hook=lambda kind, value: kind(value))


def list_runs(home: Path | None = None) -> list[RunSummary]:
    """All runs, newest first; with the user's own ones those that were made outside of the runs
    folder. Folders that are no runs are passed over. Raises RunFolderError where the runs folder
    cannot be read.
    """
    home = home or runs_home()
    old = _read_index(home)
    new: dict[str, _Line] = {}
    found: list[RunSummary] = []
    for name in [*_folder_names(home), *outside_runs(home)]:
        run = RunFolder(home / name)  # an absolute path stays as it is
        stamp = _stamp(run)
        line = old.get(name)
        is_settled = True
        if line is None or line.stamp != stamp or _is_under_way(run):
            is_settled = not run.is_alive()  # a trainer that has just finished still tidies up
            summary = summarise(run)
            if summary is None:
                continue
            line = _Line(stamp, summary)
        elif line.summary.path != run.path:  # the home has been moved
            line = _Line(stamp, msgspec.structs.replace(line.summary, path=run.path, name=name))
        found.append(line.summary)
        if line.summary.is_over and line.summary.is_readable and is_settled:
            new[name] = line
    if new != old:
        _write_index(home, new)
    found.sort(key=lambda summary: (summary.created, summary.name), reverse=True)
    return as_called_now(found, home)


def index_problem(home: Path | None = None) -> LinkFoundError | None:
    """Why the list is not kept: a link has the name of its file. None otherwise."""
    try:
        refuse_link((home or runs_home()) / INDEX_NAME)
    except LinkFoundError as error:
        return error
    return None


def _folder_names(home: Path) -> list[str]:
    fix = "Make the folder readable, or choose another one."
    with os_errors_as(RunFolderError, "The runs cannot be listed.", home, fix=fix):
        try:
            with os.scandir(home) as entries:
                return [entry.name for entry in entries if is_folder(entry)]
        except FileNotFoundError:  # before the first run
            return []


def _stamp(run: RunFolder) -> Stamp:
    folder = os.fspath(run.path)
    log, notes = _stat(f"{folder}/events.jsonl"), _stat(f"{folder}/{NOTES_NAME}")
    return (
        log.st_size if log else 0,
        log.st_mtime_ns if log else 0,
        notes.st_mtime_ns if notes else 0,
        notes.st_ino if notes else 0,
    )


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - a thousand Paths would take longer than the rest
    except OSError:
        return None


def _is_under_way(run: RunFolder) -> bool:
    """Whether a run waits to be resumed, or its trainer runs and has logged nothing yet."""
    return _stat(f"{os.fspath(run.path)}/{MARKER_NAME}") is not None or run.is_alive()


def _read_index(home: Path) -> dict[str, _Line]:
    try:
        index = _decoder.decode(read_foreign(home / INDEX_NAME, _MOST_BYTES))
    except (OSError, *DAMAGED):
        return {}
    return index.lines if index.version == SUMMARY_VERSION else {}


def _write_index(home: Path, lines: dict[str, _Line]) -> None:
    # A read-only folder, or one with a link in that place, is listed all the same, only slower.
    with contextlib.suppress(SaveError):
        save_bytes(home / INDEX_NAME, _encoder.encode(_Index(SUMMARY_VERSION, lines)))


# find ----------------------------------------------------------------------------------------
# RUN as people type it: a folder, a number, a title, or the start of one of them.

MAX_LISTED = 8

Key = Callable[[RunSummary], Iterable[str]]


def open_run(path_or_name: str | Path, *, home: Path | None = None) -> RunFolder:
    """A run by its folder, or among the user's runs by what `workbench runs` shows of it.

    12              its number
    flowers 12      the number of a project's run, where several projects have one
    Tour            a title that a person gave it; its name, also from its start

    Raises:
        RunFolderError: there is none, or several (all of them are named, with their projects).
    """
    run = RunFolder(Path(path_or_name).expanduser())
    if _is_run(run):
        return RunFolder(run.path.absolute())
    home = home or runs_home()
    text = str(path_or_name).strip()
    runs = list_runs(home)
    found = _matching(runs, text) if text else []
    if len(found) == 1:
        return RunFolder(found[0].path)
    if found:
        raise _several(home, text, found)
    latest = ", ".join(sorted(run.name for run in runs[:5]))
    raise RunFolderError(
        "Unknown run.",
        where=str(home),
        received=text,
        expected=latest or "a run folder (there are no runs yet)",
        fix="List the runs with `workbench runs`.",
    )


def find_model(path_or_name: str | Path) -> str:
    """The absolute path of something that can classify: a `.keras` file, or the folder of a run
    with weights, as `open_run` finds it. Raises RunFolderError where there is no such run, or no
    weights, or a model of another kind.
    """
    path = Path(path_or_name).expanduser()
    if not _is_run(RunFolder(path)):
        refuse_foreign(path)
    if path.is_file():
        return str(path.absolute())
    run = open_run(path_or_name)
    run.model_card()
    return str(run.path)


def _is_run(run: RunFolder) -> bool:
    with os_errors_as(RunFolderError, "The run folder cannot be read.", run.path):
        return run.request_path.is_file()


def _matching(runs: list[RunSummary], text: str) -> list[RunSummary]:
    """The runs that are meant: by the first of the ways in which any is."""
    wanted = text.casefold()
    for key in _KEYS:
        if found := [run for run in runs if any(wanted == each.casefold() for each in key(run))]:
            return found
    return [
        run
        for run in runs
        if any(each.casefold().startswith(wanted) for key in _KEYS for each in key(run))
    ]


def _numbers(run: RunSummary) -> tuple[str, ...]:
    return (f"{run.number}", f"{run.project} {run.number}") if run.number else ()


_KEYS: tuple[Key, ...] = (
    lambda run: (run.name,),
    _numbers,
    lambda run: (run.own_title,) if run.own_title else (),
    lambda run: (run.label,),
    lambda run: (run.title,),
)


def _several(home: Path, text: str, found: list[RunSummary]) -> RunFolderError:
    listed = [
        f"{run.project}: {run.label} ({place_text(run.path, home)})" for run in found[:MAX_LISTED]
    ]
    more = f"; and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
    fix = "Use the folder in parentheses."
    if all(run.number for run in found):
        fix = f'Name the project too, for example "{found[0].project} {found[0].number}".'
    if len({(run.project, run.number) for run in found}) < len(found):
        fix = "Use the folder in parentheses."
    return RunFolderError(
        "Several runs match.",
        where=str(home),
        received=text,
        expected="; ".join(listed) + more,
        fix=fix,
    )
