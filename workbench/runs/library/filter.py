"""Finding runs by a few words, for the window's filter and `workbench runs --filter`.

flowers cosine      both words, in project, name, title, tags, note, data, outcome or folder name
"two words"         this exact text
-failed             not this
tag:paper           has this tag
outcome:failed      data:cifar   project:...   title:...   note:...   only there
acc>0.8   acc>80    test accuracy, else the best validation accuracy; also %, >=, <, <=, =
val>0.9   loss<0.5  epochs>=10   seconds<600   images>3000   parameters<100000
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import lru_cache

from workbench.runs.library.summary import RunSummary

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
