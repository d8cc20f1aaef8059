"""Packing for another computer by a worker that may be silent, or end without a word."""

from __future__ import annotations

import os
import sys

import pytest

from workbench.core.projects.project import Project
from workbench.errors import RunError
from workbench.remote import setup as parcel
from workbench.runs.folder import create_run


class CalledOffError(Exception):
    """Raised by the progress callback."""


def packs_with(monkeypatch, code):
    monkeypatch.setattr(parcel, "worker_command", lambda *_words: [sys.executable, "-c", code])
    return create_run(Project())


def test_a_silent_worker_can_be_called_off(monkeypatch, tmp_path):
    path = tmp_path / "pid"
    run = packs_with(
        monkeypatch,
        f"import os, time; open({str(path)!r}, 'w').write(str(os.getpid())); time.sleep(600)",
    )

    def on_progress(_words, _fraction):
        if path.exists() and path.read_text():
            raise CalledOffError

    with pytest.raises(CalledOffError):
        parcel.make_parcel(run, on_progress)
    with pytest.raises(ProcessLookupError):
        os.kill(int(path.read_text()), 0)


def test_a_worker_that_ends_without_an_answer_is_reported_with_what_it_printed(monkeypatch):
    run = packs_with(monkeypatch, "import sys; sys.exit('no memory')")
    with pytest.raises(RunError) as caught:
        parcel.make_parcel(run, lambda *_progress: None)
    assert "no memory" in caught.value.received


def test_progress_is_passed_on_and_the_answer_is_kept(monkeypatch, tmp_path):
    packed = tmp_path / "packed.zip"
    packed.write_bytes(b"x")
    run = packs_with(
        monkeypatch,
        "import json; print(json.dumps({'progress': 'Packing', 'fraction': 0.5}));"
        f"print(json.dumps({{'parcel': 'a' * 64, 'path': {str(packed)!r}, 'bytes': 1}}))",
    )
    reported = []
    made = parcel.make_parcel(run, lambda *words: reported.append(words))
    assert ("Packing", 0.5) in reported
    assert (made.sha, made.path, made.size) == ("a" * 64, packed, 1)
    assert parcel.make_parcel(run, pytest.fail) is made
