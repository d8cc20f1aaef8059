"""`workbench data`: what is found in the terminal, and settled there."""

from __future__ import annotations

import json
import os

import pytest

from tests.class_folders import smooth_photo, write_photos
from workbench.cli import main
from workbench.core.projects.project_file import read_project


@pytest.fixture
def folder(tmp_path):
    return write_photos(tmp_path / "data", 8)


@pytest.fixture
def flawed(folder):
    """One unreadable file, one image in two classes, two copies in a class."""
    (folder / "cat" / "0.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    (folder / "dog" / "both.png").write_bytes((folder / "cat" / "5.png").read_bytes())
    smooth_photo(503).save(folder / "dog" / "3b.jpg", quality=60)
    return folder


@pytest.fixture
def project(flawed, tmp_path, capsys):
    path = tmp_path / "p.workbench"
    assert main(["new", "--from", f"folder:{flawed}", str(path)]) == 0
    capsys.readouterr()
    return path


def check(capsys, *words):
    code = main(["data", "check", *map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_clean_source_has_no_findings_and_ends_with_0(folder, capsys):
    code, answer = check(capsys, f"folder:{folder}")
    assert (code, answer["ok"], answer["findings"], answer["bad_files"]) == (0, True, [], [])
    assert (answer["checked_images"], answer["train"] + answer["test"]) == (16, 16)


def test_findings_have_kind_files_message_and_actions(flawed, capsys):
    code, answer = check(capsys, f"folder:{flawed}")
    assert (code, answer["ok"]) == (1, False)
    by_kind = {each["kind"]: each for each in answer["findings"]}
    assert set(by_kind) == {"duplicate", "near_duplicate", "unreadable"}
    assert by_kind["duplicate"]["files"] == [
        str(flawed / "cat" / "5.png"),
        str(flawed / "dog" / "both.png"),
    ]
    assert by_kind["near_duplicate"]["files"][1].endswith("3b.jpg")
    assert [bad["file"] for bad in answer["bad_files"]] == by_kind["unreadable"]["files"]
    assert all(each["state"] == "open" for each in answer["findings"])
    assert by_kind["unreadable"]["actions"][0] == {"key": "leave_out", "title": "Leave out"}
    assert answer["counts"] == {"duplicate": 1, "near_duplicate": 1, "unreadable": 1}


def test_people_read_the_findings_with_their_numbers(flawed, capsys):
    assert main(["data", "check", f"folder:{flawed}"]) == 1
    shown = capsys.readouterr()
    assert "Duplicates: 1" in shown.out
    assert "1. One image in “cat” and “dog”" in shown.out
    assert "3 findings. 18 images checked" in shown.err


def test_each_finding_is_settled_in_the_project_until_the_check_ends_with_0(project, capsys):
    code, answer = check(capsys, project)
    assert code == 1
    keys = {each["kind"]: each["key"] for each in answer["findings"]}
    conflict = next(each for each in answer["findings"] if each["kind"] == "duplicate")
    content = conflict["images"][0]["content"]
    words = ["data", "fix", str(project), keys["duplicate"], "keep_2", "--json"]
    assert main(words) == 1  # others are left
    done = json.loads(capsys.readouterr().out)
    assert [(each["kind"], each["state"]) for each in done["applied"]] == [("duplicate", "fixed")]
    edits = read_project(project).edits
    assert (dict(edits.labels), edits.once) == ({content: "dog"}, {content})
    assert main(["data", "fix", str(project), "--all", "near_duplicate"]) == 1
    assert main(["data", "fix", str(project), keys["unreadable"], "keep"]) != 0
    assert main(["data", "fix", str(project), keys["unreadable"], "leave_out"]) == 0
    capsys.readouterr()
    code, answer = check(capsys, project)
    states = {each["kind"]: each["state"] for each in answer["findings"]}
    assert code == 0
    assert states == {"duplicate": "fixed", "near_duplicate": "fixed", "unreadable": "fixed"}


def test_without_a_finding_they_are_listed_and_the_file_stays(project, capsys):
    before = project.read_bytes()
    assert main(["data", "fix", str(project)]) == 1
    assert "leave_out: Leave out" in capsys.readouterr().out
    assert project.read_bytes() == before


def test_unknown_findings_and_actions_are_refused(project, capsys):
    before = project.read_bytes()
    assert main(["data", "fix", str(project), "99", "--json"]) == 2
    assert "no such finding" in json.loads(capsys.readouterr().out)["error"]["what"]
    assert main(["data", "fix", str(project), "1", "burn", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert "keep_1" in error["expected"]
    assert project.read_bytes() == before


def test_names_that_are_no_unicode_are_named_all_the_same(folder, capsys):
    raw = os.fsencode(folder / "cat") + b"/\xff.png"
    with open(raw, "wb") as file:  # noqa: PTH123 - bytes
        file.write(b"no image")
    code, answer = check(capsys, f"folder:{folder}")
    assert code == 1
    assert answer["findings"][0]["files"] == [str(folder / "cat") + "/\\udcff.png"]
