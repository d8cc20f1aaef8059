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
    assert "3 findings. 17 images checked" in shown.err, "one of 18 cannot be read"


def listed(folder, *more):
    """A table of all the images, with some more lines."""
    lines = [f"{path.parent.name}/{path.name},{path.parent.name}" for path in folder.rglob("*.png")]
    (folder / "list.csv").write_text("\n".join(["path,label", *sorted(lines), *more, ""]))
    return f"csv:{folder / 'list.csv'}"


@pytest.mark.parametrize(
    ("lines", "kind", "words"),
    [
        (["cat/gone.png,cat"], "unusable", "no such image file: gone.png. The data set is"),
        (["cat/7.png,"], "unusable", "The line has no label: 7.png. The data set is used with"),
        (["cat/gone.png,cat,1,2"], "unusable", "The line has 4 cells, not 2: gone.png."),
        (["cat/7.png,dog"], "doubtful_reading", "1 of 16 images has lines with different labels"),
    ],
)
def test_lines_of_a_table_that_cannot_be_used_are_findings(folder, capsys, lines, kind, words):
    assert check(capsys, listed(folder))[0] == 0
    source = listed(folder, *lines)
    code, answer = check(capsys, source)
    assert (code, answer["ok"]) == (1, False)
    (finding,) = answer["findings"]
    assert (finding["kind"], finding["severity"]) == (kind, "warning")
    assert words in finding["message"]
    path = folder.with_name("p.workbench")
    assert main(["new", "--from", source, str(path)]) == 0
    assert main(["data", "fix", str(path), finding["key"]]) == 0
    capsys.readouterr()
    assert main(["data", "check", str(path)]) == 0
    shown = capsys.readouterr()
    assert "cannot be read" not in shown.err
    assert "No findings" not in shown.err


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


def test_several_findings_are_settled_by_numbers_and_ranges_in_one_command(project, capsys):
    assert main(["data", "fix", str(project), "1-2", "3", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert [each["applied"] for each in done["applied"]] == ["keep_1", "keep_1", "leave_out"]
    assert all(each["state"] == "fixed" for each in done["applied"])


def test_several_findings_take_one_action_which_all_of_them_must_have(project, capsys):
    before = project.read_bytes()
    assert main(["data", "fix", str(project), "1", "3", "keep_1", "--json"]) == 2
    assert "leave_out" in json.loads(capsys.readouterr().out)["error"]["expected"]
    assert main(["data", "fix", str(project), "2-9", "--json"]) == 2
    assert "no such finding" in json.loads(capsys.readouterr().out)["error"]["what"]
    assert project.read_bytes() == before
    assert main(["data", "fix", str(project), "1", "2", "keep"]) == 1
    assert len(read_project(project).edits.kept) == 2


def test_a_source_is_divided_as_its_new_project_divides_it(flawed, project, capsys):
    for number in range(30):  # a new project's share of validation depends on the number of images
        smooth_photo(900 + number).save(flawed / "dog" / f"more{number}.png")
    again = project.with_name("again.workbench")
    assert main(["new", "--from", f"folder:{flawed}", str(again)]) == 0
    capsys.readouterr()
    source, made = (check(capsys, each)[1] for each in (f"folder:{flawed}", again))
    assert source["classes"] == made["classes"]
    assert source["findings"] == made["findings"]


def test_versions_of_the_edits_are_saved_listed_used_and_deleted(project, capsys):
    def versions(*words):
        code = main(["data", "versions", str(project), *words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    assert versions() == (0, {"project": str(project), "versions": []})
    assert main(["data", "versions", str(project)]) == 0
    assert "No version has been saved." in capsys.readouterr().err
    code, answer = versions("save", "before relabeling")
    assert code == 0
    assert [each["name"] for each in answer["versions"]] == ["before relabeling"]
    assert answer["versions"][0]["is_current"]
    assert main(["data", "fix", str(project), "3"]) == 1
    capsys.readouterr()
    edited = read_project(project).edits
    (version,) = versions()[1]["versions"]
    assert version["differs"] == "1 image left out"
    versions("save", "cleaned")
    assert main(["data", "versions", str(project)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in shown] == ["cleaned", "before relabeling"]
    assert shown[1].endswith("differs from now by 1 image left out")
    assert versions("use", "before relabeling")[0] == 0
    assert not read_project(project).edits.left_out
    versions("use", "cleaned")
    assert read_project(project).edits == edited
    assert [e["name"] for e in versions("delete", "cleaned")[1]["versions"]] == [
        "before relabeling"
    ]


def test_versions_need_a_name_that_is_there(project, capsys, monkeypatch):
    before = project.read_bytes()
    for words in (["use", "none"], ["delete"], ["save"], ["save", "  "]):
        assert main(["data", "versions", str(project), *words, "--json"]) == 2
    monkeypatch.setattr("workbench.cli._data.MAX_VERSIONS", 0)
    assert main(["data", "versions", str(project), "save", "one", "--json"]) == 2
    assert "Delete one" in capsys.readouterr().out
    assert project.read_bytes() == before
