"""Images that were moved are found again, for all runs that were trained on them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.class_folders import stripes_project, write_stripes
from workbench.cli import main
from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import save_project
from workbench.core.specs import DatasetSpec
from workbench.datasets import all_datasets
from workbench.errors import DataNotFoundError
from workbench.runs.home import data_home
from workbench.runs.model_card import CARD_NAME
from workbench.runs.moved_data import data_now, keep_place_of, place_now


def test_a_place_is_followed_where_nothing_is_any_more(tmp_path):
    old, new, newest = tmp_path / "old", tmp_path / "new", tmp_path / "newest"
    (new / "cat").mkdir(parents=True)
    (new / "cat" / "1.png").touch()
    assert place_now(str(old)) == str(old)
    keep_place_of(str(old), str(new))
    assert place_now(str(old)) == str(new)
    assert place_now(str(old / "cat" / "1.png")) == str(new / "cat" / "1.png")
    assert place_now(str(old / "dog")) == str(old / "dog"), "there is nothing either"
    new.rename(newest)
    assert place_now(str(old)) == str(old)
    keep_place_of(str(new), str(newest))
    assert place_now(str(old)) == str(newest)
    old.mkdir()
    assert place_now(str(old)) == str(old), "what is there is never another one"


def test_a_folder_that_is_moved_back_and_forth_is_found(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    for old, new in ((here, there), (there, here), (here, there)):
        shutil.rmtree(old, ignore_errors=True)
        new.mkdir(exist_ok=True)
        keep_place_of(str(old), str(new))
        assert place_now(str(old)) == str(new)


def test_what_is_still_there_has_no_other_place(tmp_path, capsys):
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    words = ["data", "moved", str(tmp_path / "old"), str(tmp_path / "new"), "--force", "--json"]
    assert main(words) == 3
    assert "still something" in json.loads(capsys.readouterr().out)["error"]["what"]
    assert not [*data_home().glob("moved-data.json")]
    (tmp_path / "old").rmdir()
    assert main(words) == 0


def test_addresses_are_no_places(tmp_path):
    choice = Choice("tfrecord", {"path": "gs://bucket/train-*"})
    keep_place_of(str(tmp_path / "a"), str(tmp_path))
    assert data_now(choice) == choice


def test_a_damaged_record_is_none(tmp_path):
    keep_place_of(str(tmp_path / "old"), str(tmp_path))
    (record,) = data_home().glob("moved-data.json")
    assert record.stat().st_mode & 0o777 == 0o600
    record.write_bytes(b"\xff{")
    assert place_now(str(tmp_path / "old")) == str(tmp_path / "old")


def _paths_only(spec: DatasetSpec) -> bool:
    return spec.source_param == "path"


@pytest.mark.parametrize("key", [each.key for each in all_datasets().values() if _paths_only(each)])
def test_each_source_says_that_its_files_are_not_there(tmp_path, key):
    from tests.contexts import PlainContext
    from workbench.worker.input.sources import load_unedited

    gone = tmp_path / "gone" / "x"
    with pytest.raises(DataNotFoundError, match="workbench data moved") as found:
        load_unedited(PlainContext(tmp_path), key, {"path": str(gone)})
    assert found.value.where == str(gone)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with images, a project beside it, and a run, which share a home."""
    base = tmp_path_factory.mktemp("moved")
    write_stripes(base / "photos", 90)
    save_project(stripes_project(base / "photos", epochs=1), base / "stripes.workbench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(base / "home"))
        result = workbench("train", base / "stripes.workbench", "--json")
    assert result.returncode == 0, result.stderr
    return base, json.loads(result.stdout.splitlines()[-1])["run"]


def workbench(*words):
    command = [sys.executable, "-m", "workbench", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)


@pytest.mark.worker
def test_a_renamed_folder_is_found_for_its_runs(trained, monkeypatch, capsys):
    base, run = trained
    monkeypatch.setenv("WORKBENCH_HOME", str(base / "home"))
    old, new = base / "photos", base / "my photos"

    def answer(*words, code=0):
        result = workbench(*words, "--json")
        assert result.returncode == code, result.stderr + result.stdout
        return json.loads(result.stdout.splitlines()[-1])

    before = answer("evaluate", run)
    old.rename(new)
    shutil.copytree(run, f"{run}-failed")
    (Path(f"{run}-failed") / CARD_NAME).unlink()  # as a run that failed before its first epoch
    error = answer("evaluate", run, code=3)["error"]
    assert error["where"] == str(old)
    assert f"workbench data moved {old} NEW" in error["fix"]
    assert error["fix"].index("button “Find the folder…”") < error["fix"].index("in a terminal")

    other = write_stripes(base / "other", 90, seed=9)
    assert main(["data", "moved", str(old), str(other), "--json"]) == 3
    refused = json.loads(capsys.readouterr().out)["error"]
    assert "Not the same images: 0 of " in refused["what"]
    assert answer("evaluate", run, code=3)["error"]["where"] == str(old)

    assert main(["data", "moved", str(old), str(new), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["runs"] == 2
    assert 0 < found["same"] == found["compared"] == found["known"]
    after = answer("evaluate", run)
    figures = ("loss", "accuracy", "confusion", "per_class")
    assert [after[key] for key in figures] == [before[key] for key in figures]
    assert answer("check", base / "stripes.workbench")["ok"]
    assert answer("resume", run, "--epochs", 2)["outcome"] == "completed"
    again = answer("train", base / "stripes.workbench")
    assert again["outcome"] == "completed"
