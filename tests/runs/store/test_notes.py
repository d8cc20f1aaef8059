"""Title, tags and note of a run survive whatever happens to the run."""

from __future__ import annotations

import pytest

from workbench.core.projects.project import Project
from workbench.errors import RunFolderError
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.store.notes import (
    NOTES_NAME,
    RunNotes,
    change_notes,
    read_notes,
    tidy,
    tidy_tag,
    write_notes,
)


@pytest.fixture
def run():
    return create_run(Project(title="First"))


def test_no_notes_are_empty_notes(run):
    assert read_notes(run) == RunNotes()
    assert not (run.path / NOTES_NAME).exists()


def test_what_is_written_is_read(run):
    notes = RunNotes(title="Wide net", tags=["paper", "wide"], text="Twice the filters.\n\nBest.")
    assert write_notes(run, notes) == notes
    assert read_notes(run) == notes
    request = run.request_path.read_bytes()
    change_notes(run, title="Wider")
    assert run.request_path.read_bytes() == request, "the request is never changed"


def test_a_part_can_be_changed(run):
    write_notes(run, RunNotes(title="T", tags=["a", "b"], text="x"))
    change_notes(run, add_tags=["c", "A"], remove_tags=["B"])
    assert read_notes(run) == RunNotes(title="T", tags=["a", "c"], text="x")
    change_notes(run, text="")
    assert read_notes(run).text == ""
    assert read_notes(run).title == "T"


@pytest.mark.parametrize(
    ("tag", "kept"),
    [("  two words ", "two-words"), ("#paper", "paper"), ("a,b;c", "a-b-c"), ("\x1b[31m", "[31m"),
     ("x" * 99, "x" * 40), (" , ", "")],
)  # fmt: skip
def test_a_tag_is_one_word(tag, kept):
    assert tidy_tag(tag) == kept


def test_texts_lose_what_could_drive_a_terminal():
    notes = tidy(RunNotes(title="a\nb\x1b\u202ec", tags=["x", "X", ""], text="l1\r\nl2\tz\x00"))
    assert notes == RunNotes(title="a bc", tags=["x"], text="l1\nl2\tz")
    assert tidy(notes) == notes


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"tags": 3}', b"\xff", b'{"version": 9}'])
def test_unreadable_notes_are_put_aside_never_overwritten(run, content):
    (run.path / NOTES_NAME).write_bytes(content)
    assert read_notes(run) == RunNotes()
    write_notes(run, RunNotes(title="new"))
    assert read_notes(run).title == "new"
    assert (run.path / "notes.unreadable.json").read_bytes() == content


def test_a_folder_that_is_gone_is_reported(tmp_path):
    with pytest.raises(RunFolderError, match="not a run"):
        write_notes(RunFolder(tmp_path / "gone"), RunNotes())
    assert not (tmp_path / "gone").exists()
