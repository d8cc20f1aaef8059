"""Sources come back from a project file as they were: addresses as addresses, paths as paths."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import read_project, save_project
from workbench.core.projects.texts import parse_source
from workbench.datasets import all_datasets

ADDRESSES = ("https://host.example/a.tfrecord", "gs://bucket/x-*.tfrec", "http://127.0.0.1:9/a b",
             "HTTPS://Host.example/../a", "s3://b//a", "file:///x/y")  # fmt: skip


def _saved(project, path):
    save_project(project, path)
    return read_project(path)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("key", ["tfrecord", "csv", "npz", "zip"])
def test_an_address_is_no_path(tmp_path, key, address):
    project = Project(dataset=Choice(key, {"path": address}))
    assert _saved(project, tmp_path / "p.workbench").dataset.params["path"] == address
    again = _saved(replace(project, title="again"), tmp_path / "p.workbench")
    assert again.dataset.params["path"] == address


@pytest.mark.parametrize("key", [*all_datasets()])
def test_the_example_of_each_source_comes_back(tmp_path, monkeypatch, key):
    """As the help writes it, with a path in the project's folder and outside of it."""
    monkeypatch.chdir(tmp_path)
    spec = all_datasets()[key]
    for path in (str(tmp_path / "images"), "/elsewhere/images", "https://host.example/images"):
        value = "mnist" if key == "tfds" else path
        if key == "folders" and "://" in path:
            continue  # it takes folders alone
        text = f"{key}:{value}" if spec.source_param else key
        project = Project(dataset=parse_source(text, all_datasets()))
        found = _saved(project, tmp_path / f"{key}.workbench").dataset
        assert found == project.dataset
        moved = tmp_path / "moved"
        moved.mkdir(exist_ok=True)
        (tmp_path / f"{key}.workbench").replace(moved / "p.workbench")
        if "path" in project.dataset.params and path.startswith(str(tmp_path)):
            assert read_project(moved / "p.workbench").dataset.params["path"] == str(
                moved / "images"
            )
