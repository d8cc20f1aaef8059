"""Each source of images through the real commands: checked, made a project, sent elsewhere."""

from __future__ import annotations

import csv
import json
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.contexts import PlainContext
from tests.written_records import write_records
from workbench.cli import main
from workbench.core.projects.project_file import read_project
from workbench.core.projects.texts import parse_source
from workbench.datasets import all_datasets
from workbench.pictures.dataset_bundle import pack, unpacked
from workbench.pictures.png import png_bytes

COUNTS = {"fir": 12, "oak": 20}


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> dict[str, str]:
    """The same images in every form, as SOURCE texts."""
    root = tmp_path_factory.mktemp("sources")
    random = np.random.default_rng(1)
    images = [
        (name, number, png_bytes(random.integers(0, 256, (40, 50, 3), np.uint8)))
        for name, size in COUNTS.items()
        for number in range(size)
    ]
    for name, number, data in images:
        path = root / "deep" / "trees" / name / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    with (root / "table.csv").open("w", newline="") as file:
        rows = [(f"deep/trees/{name}/{number}.png", name) for name, number, _ in images]
        csv.writer(file).writerows([("path", "label"), *rows])
    with zipfile.ZipFile(root / "a.zip", "w") as archive:
        for name, number, data in images:
            archive.writestr(f"x/{name}/{number}.png", data)
    with tarfile.open(root / "a.tgz", "w:gz") as tar:
        tar.add(root / "deep" / "trees", "trees")
    write_records(root / "a.tfrec", [{"image": data, "label": n.encode()} for n, _, data in images])
    folders = ":".join(str(root / "deep" / "trees" / name) for name in COUNTS)
    return {
        "folder": f"folder:{root / 'deep'}",
        "folders": f"folders:{folders}",
        "csv": f"csv:{root / 'table.csv'}",
        "zip": f"zip:{root / 'a.zip'}",
        "tar": f"tar:{root / 'a.tgz'}",
        "tfrecord": f"tfrecord:{root / 'a.tfrec'}",
    }


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))


KEYS = ("folder", "folders", "csv", "zip", "tar", "tfrecord")


@pytest.mark.parametrize("key", KEYS)
def test_data_check_and_new(sources, key, tmp_path, capsys):
    main(["data", "check", sources[key], "--json"])
    found = json.loads(capsys.readouterr().out)
    sizes = {each["class"]: each["train"] + each["test"] for each in found["classes"]}
    assert sizes == COUNTS
    assert found["bad_files"] == []
    file = tmp_path / "p.workbench"
    assert main(["new", "--from", sources[key], str(file), "--json"]) == 0
    project = read_project(file)
    assert project.dataset == parse_source(sources[key], all_datasets())


@pytest.mark.parametrize("key", KEYS)
def test_the_images_are_the_same_on_another_computer(sources, key, tmp_path):
    choice = parse_source(sources[key], all_datasets())
    ctx = PlainContext(tmp_path / "cache")
    (tmp_path / "cache").mkdir()
    loaded = all_datasets()[key].load(ctx, choice.params)
    pack(loaded, tmp_path / "sent.zip", ctx)
    with zipfile.ZipFile(tmp_path / "sent.zip") as packed:
        for name in packed.namelist():
            packed.extract(name, tmp_path / "there")
    there = unpacked(tmp_path / "there")
    assert there.class_names == loaded.class_names == tuple(COUNTS)
    assert there.train.labels.tolist() == loaded.train.labels.tolist()
    for one, other in zip(loaded.train.paths, there.train.paths, strict=True):
        assert Path(one).read_bytes() == Path(other).read_bytes()


def test_odd_images_by_their_manifest(shared_data, tmp_path, capsys):
    """What should be read is read, what should not is named, and nothing else is lost."""
    with (shared_data / "odd_images" / "manifest.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    table = tmp_path / "odd.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("path", "label"))
        for number, row in enumerate(rows):
            name = shared_data.resolve() / "odd_images" / row["file"]
            writer.writerow((name, "ab"[number % 2]))
    assert main(["data", "check", f"csv:{table}", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    bad = {Path(each["file"]).name for each in found["bad_files"]}
    used = sum(each["train"] + each["test"] for each in found["classes"])
    assert used + len(bad) == len(rows)
    assert all(each["reason"] for each in found["bad_files"])
    for row in rows:
        if row["decode"] != "maybe":
            assert (Path(row["file"]).name in bad) == (row["decode"] == "no"), row["file"]
