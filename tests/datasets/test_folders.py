"""Several loose folders as classes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.contexts import PlainContext
from tests.datasets.test_folder import fill
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.texts import parse_source
from workbench.core.specs import LoadedData
from workbench.datasets import all_datasets, missing_data_of
from workbench.errors import DatasetError, ParamError, UsageError


def load(*paths: object, **more: object) -> LoadedData:
    params = {"paths": tuple(map(str, paths)), **more}
    return all_datasets()["folders"].load(PlainContext(Path("unused")), params)


def test_each_folder_is_a_class(tmp_path):
    fill(tmp_path, {"here/roses": 2, "there/tulips/garden": 3, "there/tulips": 1, "empty": 0})
    data = load(tmp_path / "here/roses", tmp_path / "there/tulips", tmp_path / "empty")
    assert data.class_names == ("roses", "tulips")
    assert np.bincount(data.train.labels).tolist() == [2, 4]
    assert data.notes == ("Folder “empty” has no images and is ignored.",)
    params = {"paths": [str(tmp_path / "here/roses"), str(tmp_path / "there/tulips")]}
    assert all_datasets()["folders"].listing(params).class_names == ("roses", "tulips")


def test_folders_of_one_name_carry_the_folder_around_them(tmp_path):
    fill(tmp_path, {"north/photos": 2, "south/photos": 1})
    data = load(tmp_path / "north/photos", tmp_path / "south/photos")
    assert data.class_names == ("north/photos", "south/photos")


def test_they_are_read_as_if_they_were_in_one_folder(tmp_path):
    fill(tmp_path, {f"{part}/{name}": 2 for part in ("train", "test") for name in "ab"})
    data = load(tmp_path / "train", tmp_path / "test")
    assert data.class_names == ("a", "b")
    assert len(data.test) == 4
    as_classes = load(tmp_path / "train", tmp_path / "test", parts="none", classes="top")
    assert set(as_classes.class_names) == {"train", "test"}
    params = {"paths": [str(tmp_path / "train"), str(tmp_path / "test")]}
    assert all_datasets()["folders"].listing(params).class_names == ("a", "b")


def test_folders_inside_of_the_chosen_ones_are_a_doubt(tmp_path):
    fill(tmp_path, {"animals/cat": 2, "animals/dog": 2, "x/plants/oak": 2, "x/plants/rose": 2})
    chosen = (tmp_path / "animals", tmp_path / "x" / "plants")
    data = load(*chosen)
    assert data.class_names == ("animals", "plants")
    (doubt,) = (each for each in data.inferences if each.is_doubtful)
    assert load(*chosen, classes=doubt.options[0].value).class_names == (
        "cat",
        "dog",
        "oak",
        "rose",
    )


@pytest.mark.parametrize(
    ("paths", "what"),
    [
        ((), "No folders have been chosen"),
        (("a",), "only one class"),
        (("a", "a", "x/../a"), "only one class"),
        (("a", "a/inner"), "inside of another"),
        (("a", "gone"), "no such folder"),
        (("a", "a/0.png"), "file, not a folder"),
        (("a", "n" * 300), "cannot be opened"),
    ],
)
def test_mistakes(tmp_path, paths, what):
    fill(tmp_path, {"a": 2, "a/inner": 1, "x": 0})
    with pytest.raises(DatasetError, match=what) as caught:
        load(*(tmp_path / path for path in paths))
    assert caught.value.expected


def test_as_a_source_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    choice = parse_source("folders:roses:../tulips", all_datasets())
    assert choice.params["paths"] == (str(tmp_path / "roses"), str(tmp_path.parent / "tulips"))
    with pytest.raises(UsageError, match="needs a value"):
        parse_source("folders:", all_datasets())


def test_a_folder_that_has_gone_is_a_problem_of_the_project(tmp_path):
    fill(tmp_path, {"a": 1})
    paths = (str(tmp_path / "a"), str(tmp_path / "b"))
    project = Project(dataset=Choice("folders", {"paths": paths, "fit": "crop"}))
    assert [missing.path for missing in missing_data_of(project)] == [paths[1]]


def test_the_folders_are_named_in_short_and_checked():
    spec = all_datasets()["folders"]
    paths = [f"/photos/{name}" for name in ("ash", "beech", "cedar", "elm")]
    assert spec.name_of({"paths": paths[:2]}) == "ash, beech"
    assert spec.name_of({"paths": paths}) == "ash, beech, cedar, …"
    (param,) = (param for param in spec.params if param.key == spec.source_param)
    assert param.check(paths) == tuple(paths)
    for wrong in ("/photos", [3], [""]):
        with pytest.raises(ParamError):
            param.check(wrong)
