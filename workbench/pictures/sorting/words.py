"""What a plan would do, what was done and what was taken back, alike for window and terminal."""

from __future__ import annotations

from workbench.core.format import bytes_text, count, plural
from workbench.pictures.sorting.carry_out import Sorted
from workbench.pictures.sorting.plan import Plan
from workbench.pictures.sorting.undo import Undo, Undone

_MOST_CLASSES = 12


def plan_words(plan: Plan, model: str) -> str:
    """What would be done by the predictions of a model, which a line names: a line for each of the
    first class folders, then the notes.
    """
    counts = plan.counts()
    lines = [f"{name}: {count(number)}" for name, number in list(counts.items())[:_MOST_CLASSES]]
    if len(counts) > _MOST_CLASSES:
        lines.append(f"and {plural(len(counts) - _MOST_CLASSES, 'other class', 'other classes')}")
    lines += [""] if lines else []
    return "\n".join([f"Predictions of {model}:", "", *lines, *plan_notes(plan)])


def plan_notes(plan: Plan) -> list[str]:
    """The size of all, what is there before, how many are renamed, and how many are skipped with
    the reason; a line each.
    """
    lines = []
    if plan.placements:
        size = bytes_text(plan.num_bytes)
        lines.append(f"{size} in total. Existing files are never overwritten.")
    if plan.num_there:  # labels, where the folder is a data set
        there = plural(plan.num_there, "file")
        lines.append(f"These class folders already have {there}: predictions are mixed with them.")
    if plan.num_renamed:
        lines.append(f"Renamed (name already taken): {count(plan.num_renamed)}")
    for reason, number in plan.reasons().items():
        lines.append(f"Skipped ({reason}): {count(number)}")
    return lines


def sorted_words(done: Sorted, *, is_move: bool, into: str = "") -> str:
    """What was done, as in: 3 images moved into flowers. 1 image not moved."""
    verb = "moved" if is_move else "copied"
    where = f" into {into}" if into else ""
    stopped = ", then canceled" if done.is_stopped else ""
    words = f"{plural(done.num_done, 'image')} {verb}{where}{stopped}."
    return " ".join(filter(None, (words, _not_done_words(len(done.failed), verb))))


def undo_question(what: Undo) -> str:
    """What would be taken back."""
    images = plural(len(what.images), "image")
    return f"Put {images} back?" if what.is_move else f"Delete {images} that were copied?"


def foreign_words(what: Undo) -> str:
    """What to know before a foreign undo file is followed: all folders that it names; "" for one of
    one's own.
    """
    if not what.is_foreign:
        return ""
    verb = "put files into" if what.is_move else "delete files in"
    rules = "Only pictures are moved, and no folder is made; hidden folders are left alone."
    if not what.is_move:
        rules = "Only copies whose original is there, with the same content, are deleted."
    first = (
        "This undo file was not written by you on this computer, or by an earlier version of "
        f"Workbench. It would {verb}:"
    )
    return "\n".join([first, *what.places(), rules])


def undone_words(what: Undo, done: Undone) -> str:
    """What was taken back, as in: 3 images put back. 1 image not put back."""
    words = f"{plural(done.num_done, 'image')} {_undo_verb(what)}."
    return " ".join(filter(None, (words, kept_words(what, done))))


def kept_words(what: Undo, done: Undone) -> str:
    """How many were left where they are; "" where none was."""
    return _not_done_words(len(done.kept), _undo_verb(what))


def _undo_verb(what: Undo) -> str:
    return "put back" if what.is_move else "deleted"


def _not_done_words(number: int, verb: str) -> str:
    return f"{plural(number, 'image')} not {verb}." if number else ""
