"""A project that is moved together with its images finds them."""

from __future__ import annotations

import json

import pytest

from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import moved_places, read_project, save_project


@pytest.fixture
def saved(tmp_path):
    """A folder with a project in it, and images in another folder of it."""
    base = tmp_path / "before"
    (base / "photos" / "cat").mkdir(parents=True)
    (base / "work").mkdir()
    choice = Choice("folder", {"path": str(base / "photos"), "fit": "crop"})
    save_project(Project(dataset=choice), base / "work" / "p.workbench")
    return base


def test_a_moved_project_finds_its_images_beside_it(saved):
    after = saved.rename(saved.with_name("after"))
    project = read_project(after / "work" / "p.workbench")
    assert project.dataset.params["path"] == str(after / "photos")
    assert moved_places(project) == {str(saved / "photos"): str(after / "photos")}
    save_project(project, after / "work" / "p.workbench")
    again = read_project(after / "work" / "p.workbench")
    assert again.dataset == project.dataset
    assert not moved_places(again)


def test_what_is_at_its_place_is_used_from_there(saved):
    project = read_project(saved / "work" / "p.workbench")
    assert project == Project(dataset=project.dataset, id=project.id)
    assert not moved_places(project)


def test_the_file_has_the_absolute_path_for_earlier_versions(saved):
    plain = json.loads((saved / "work" / "p.workbench").read_text())
    assert plain["dataset"]["params"]["path"] == str(saved / "photos")
    assert plain["dataset"]["places"] == {str(saved / "photos"): "../photos"}


def test_a_choice_of_an_earlier_version_is_not_overruled(saved):
    """It keeps `places` as a field it does not know, while another folder is chosen."""
    file = saved / "work" / "p.workbench"
    plain = json.loads(file.read_text())
    plain["dataset"]["params"]["path"] = "/no/such/folder"
    file.write_text(json.dumps(plain))
    assert read_project(file).dataset.params["path"] == "/no/such/folder"


def test_several_folders_are_found_one_by_one(saved):
    (saved / "more").mkdir()
    folders = (str(saved / "photos"), str(saved / "more"))
    file = saved / "work" / "p.workbench"
    save_project(Project(dataset=Choice("folders", {"paths": folders})), file)
    after = saved.rename(saved.with_name("after"))
    (after / "more").rmdir()
    found = read_project(after / "work" / "p.workbench").dataset.params["paths"]
    assert list(found) == [str(after / "photos"), folders[1]]


def test_several_folders_beside_a_project_move_with_it(saved):
    folders = tuple(str(saved / "photos" / name) for name in ("cat", "dog"))
    choice = Choice("folders", {"paths": (*folders, "~/birds")})
    save_project(Project(dataset=choice), saved / "p.workbench")
    assert read_project(saved / "p.workbench").dataset.params["paths"] == choice.params["paths"]
    after = saved.rename(saved.with_name("after"))
    found = read_project(after / "p.workbench").dataset.params["paths"]
    assert list(found) == [str(after / "photos" / name) for name in ("cat", "dog")] + ["~/birds"]


@pytest.mark.parametrize("path", ["/data/far/away", "", "gs://bucket/x-*", "https://host/x"])
def test_what_is_far_away_has_no_place_beside(tmp_path, path):
    file = tmp_path / "p.workbench"
    save_project(Project(dataset=Choice("tfrecord", {"path": path})), file)
    assert "places" not in json.loads(file.read_text())["dataset"]


@pytest.mark.parametrize("places", [[], "x", {"/a": 1}, {"/a": "\0"}, None, {"/a": None}])
def test_damaged_places_are_passed_over(tmp_path, places):
    file = tmp_path / "p.workbench"
    save_project(Project(dataset=Choice("folder", {"path": "/a"})), file)
    plain = json.loads(file.read_text())
    plain["dataset"]["places"] = places
    file.write_text(json.dumps(plain))
    assert read_project(file).dataset.params["path"] == "/a"


def test_a_path_that_can_be_none_has_nothing_beside_the_project(tmp_path):
    """With a zero character, which the disk refuses to be asked about."""
    (tmp_path / "photos").mkdir()
    file = tmp_path / "p.workbench"
    save_project(Project(dataset=Choice("folder", {"path": "/a"})), file)
    plain = json.loads(file.read_text())
    plain["dataset"] |= {"params": {"path": "/a\0b"}, "places": {"/a\0b": "photos"}}
    file.write_text(json.dumps(plain))
    assert read_project(file).dataset.params.get("path") == str(tmp_path / "photos")
