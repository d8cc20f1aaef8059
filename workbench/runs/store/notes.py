"""What people write about a run: its title, tags and a note, in `notes.json` of its folder.

The request and the event log stay as they are; the notes may change at any time, also
while the run trains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from workbench.core.storage.foreign_file import SMALL_BYTES, read_foreign
from workbench.core.storage.json_file import DAMAGED, decode_json, save_json
from workbench.core.storage.own_file import refuse_link
from workbench.errors import RunFolderError
from workbench.runs.folder import RunFolder
from workbench.runs.home import check_own

NOTES_NAME = "notes.json"
MAX_TITLE = 200
MAX_TAG = 40
MAX_TAGS = 20
MAX_TEXT = 100_000
MAX_CARD_TEXT = 20_000

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Characters that could drive a terminal or turn the reading direction; tab and newline stay."""


CARD_FIELDS: tuple[tuple[str, str, str], ...] = (
    ("intended_use", "Intended use", "who is to use it for what, and what it is not for."),
    ("limits", "Limits", "which images it was not trained for, and where it is weak."),
    ("ethics", "Ethical considerations", "whose images these are, and whom a mistake affects."),
)
"""(field of CardText, title, what belongs there)."""


class CardText(msgspec.Struct, frozen=True, kw_only=True):
    """What people write into the model card of a report, in the sections of Mitchell et al.,
    Model Cards for Model Reporting (2019).
    """

    intended_use: str = ""
    limits: str = ""
    ethics: str = ""


class RunNotes(msgspec.Struct, frozen=True, kw_only=True):
    """The notes of one run.

    Attributes:
        title: Words for people; "" leaves the title that the run was started with.
        tags: Words to find it by, without spaces.
        text: Anything, of several lines.
        card: For the model card of its report.
    """

    title: str = ""
    tags: list[str] = []
    text: str = ""
    card: CardText = CardText()
    format: str = "workbench-notes"
    version: int = 1


def read_notes(run: RunFolder) -> RunNotes:
    """The notes of a run; empty ones where nothing was written, or nothing can be read."""
    return _read(run) or RunNotes()


def write_notes(run: RunFolder, notes: RunNotes) -> RunNotes:
    """Saves notes, whole or not at all; returns them as saved, tidied (see `tidy`). A file that
    cannot be understood (damaged, or of a newer version) is put aside, never overwritten.

    Raises:
        RunFolderError: the folder is gone, or is no run.
        SaveError: the folder cannot be written; the old notes are unharmed.
    """
    if not run.request_path.is_file():
        raise RunFolderError("This is not a run folder.", where=str(run.path))
    check_own(run.path)
    path = run.path / NOTES_NAME
    refuse_link(path)
    if path.exists() and _read(run) is None:
        path.replace(path.with_name("notes.unreadable.json"))
    notes = tidy(notes)
    save_json(path, notes)
    return notes


def write_words(run: RunFolder, notes: RunNotes) -> RunNotes:
    """Saves title, tags and text; the texts of the model card stay. Else as `write_notes`."""
    return write_notes(run, msgspec.structs.replace(notes, card=read_notes(run).card))


def change_notes(
    run: RunFolder,
    *,
    title: str | None = None,
    text: str | None = None,
    add_tags: Iterable[str] = (),
    remove_tags: Iterable[str] = (),
    card: CardText | None = None,
) -> RunNotes:
    """Changes a part of the notes (None leaves it as it is); returns, raises as `write_notes`."""
    old = read_notes(run)
    gone = {tidy_tag(tag).casefold() for tag in remove_tags}
    tags = [tag for tag in old.tags if tag.casefold() not in gone]
    return write_notes(
        run,
        msgspec.structs.replace(
            old,
            title=old.title if title is None else title,
            text=old.text if text is None else text,
            tags=[*tags, *add_tags],
            card=old.card if card is None else card,
        ),
    )


def tidy(notes: RunNotes) -> RunNotes:
    """Notes without control characters, doubled tags and what is longer than allowed."""
    tags: dict[str, str] = {}
    for tag in filter(None, map(tidy_tag, notes.tags)):
        tags.setdefault(tag.casefold(), tag)
    return msgspec.structs.replace(
        notes,
        title=" ".join(_CONTROL.sub("", notes.title).split())[:MAX_TITLE],
        tags=list(tags.values())[:MAX_TAGS],
        text=_tidy_text(notes.text, MAX_TEXT),
        card=CardText(
            **{key: _tidy_text(getattr(notes.card, key), MAX_CARD_TEXT) for key, *_ in CARD_FIELDS}
        ),
    )


def _tidy_text(text: str, limit: int) -> str:
    return _CONTROL.sub("", text.replace("\r\n", "\n")).strip()[:limit]


def tidy_tag(tag: str) -> str:
    """A tag as it is kept: one word, so that `tag:WORD` finds it."""
    word = "-".join(_CONTROL.sub("", tag).strip().lstrip("#").split())
    return re.sub(r'[",;:]+', "-", word)[:MAX_TAG].strip("-")


def _read(run: RunFolder) -> RunNotes | None:
    """The notes; empty where there are none, None where they cannot be understood."""
    try:
        notes = decode_json(read_foreign(run.path / NOTES_NAME, SMALL_BYTES), RunNotes)
    except FileNotFoundError:
        return RunNotes()
    except (OSError, *DAMAGED):
        return None
    return tidy(notes) if notes.version <= 1 else None
