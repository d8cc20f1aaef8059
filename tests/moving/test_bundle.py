"""A bundle opens at another place with its runs, images and figures; a harmful one is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile

import pytest

from tests.class_folders import stripes_project, write_stripes
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import read_project, save_project
from workbench.errors import DatasetError, InputError, RunError, SaveError
from workbench.moving.bundle import plan_bundle, write_bundle
from workbench.moving.unbundle import open_bundle
from workbench.runs.home import data_home, runs_home
from workbench.runs.library.index import list_runs


@pytest.fixture
def project(tmp_path, written):
    """A project with images in a folder, and a run."""
    folder = write_stripes(tmp_path / "stripes", 9)
    found = stripes_project(folder)
    save_project(found, tmp_path / "p.workbench")
    written("run", project=found).begin().train(1).finish()
    return tmp_path / "p.workbench"


@pytest.fixture
def bundle(project, tmp_path):
    write_bundle(plan_bundle(project), tmp_path / "p.workbundle")
    return tmp_path / "p.workbundle"


def test_project_images_and_runs_come_out_as_they_were(project, bundle, tmp_path):
    before = {each.name: each.read_bytes() for each in (tmp_path / "stripes").rglob("*.png")}
    opened = open_bundle(bundle, tmp_path / "there")
    found = read_project(opened.project)
    images = tmp_path / "there" / "images" / "0" / "stripes"
    assert found.dataset.params["path"] == str(images)
    assert {each.name: each.read_bytes() for each in images.rglob("*.png")} == before
    (run,) = opened.runs
    assert json.loads((run / "request.json").read_text())["project"]["dataset"]["params"][
        "path"
    ] == str(images)
    assert run in [each.path for each in list_runs(runs_home())], "it is listed"
    assert not (run / "worker.lock").exists()
    assert (tmp_path / "there" / "LICENSES.txt").is_file()


def test_what_it_holds_is_said_before(project):
    plan = plan_bundle(project)
    assert plan.num_images == 9
    assert plan.words().startswith("the project, 1 run and 9 image files: ")
    assert plan_bundle(project, has_runs=False).facts.runs == []


def test_links_that_are_left_out_are_counted(project, tmp_path):
    (tmp_path / "stripes" / "more").symlink_to(tmp_path / "stripes" / "high")
    (tmp_path / "stripes" / "high" / "x.png").symlink_to("000.png")
    plan = plan_bundle(project)
    assert plan.num_images == 9
    assert "2 links in stripes left out." in plan.words()


def test_a_link_that_the_project_names_is_followed(tmp_path):
    write_stripes(tmp_path / "stripes", 9)
    (tmp_path / "link").symlink_to(tmp_path / "stripes")
    save_project(stripes_project(tmp_path / "link"), tmp_path / "p.workbench")
    shutil.make_archive(str(tmp_path / "there"), "zip", tmp_path / "stripes")
    (tmp_path / "link.zip").symlink_to(tmp_path / "there.zip")
    zipped = Project(dataset=Choice("zip", {"path": str(tmp_path / "link.zip")}))
    save_project(zipped, tmp_path / "z.workbench")
    assert "images/0/link.zip" in plan_bundle(tmp_path / "z.workbench").files
    plan = plan_bundle(tmp_path / "p.workbench")
    assert plan.num_images == 9
    assert plan.project.dataset.params["path"] == "images/0/link"


def test_a_file_that_cannot_be_read_is_named(project, tmp_path):
    plan = plan_bundle(project)
    name, gone = next(iter(plan.files.items()))
    gone.unlink()
    gone.mkdir()
    with pytest.raises(RunError, match="cannot be read") as found:
        write_bundle(plan, tmp_path / "x.workbundle")
    assert found.value.where == str(gone), name
    assert not (tmp_path / "x.workbundle").exists()


def test_what_belongs_to_other_computers_stays(project, tmp_path):
    (run,) = list_runs(runs_home())
    here = ("control", "control_sender", "remote.json", "cluster.json", "cluster.seal", "waiting")
    for name in here:
        (run.path / name).touch()
    packed = {name.rpartition("/")[2] for name in plan_bundle(project).files}
    assert "request.json" in packed
    assert not packed & set(here)


def test_a_run_that_trains_is_left_out(project, written, tmp_path):
    live = written("live", project=read_project(project)).begin()
    plan = plan_bundle(project)
    assert live.folder.name not in plan.facts.runs
    assert "left out: it running" in plan.words()


def test_a_bundle_is_written_whole_or_not_at_all(project, tmp_path):
    def stop(_words, _at):
        raise RunError("Canceled.")

    with pytest.raises(RunError, match="Canceled"):
        write_bundle(plan_bundle(project), tmp_path / "x.workbundle", stop)
    assert not (tmp_path / "x.workbundle").exists()


def test_unpacking_that_is_canceled_leaves_nothing(bundle, tmp_path):
    def stop(_words, at):
        if at > 0.5:
            raise RunError("Canceled.")

    with pytest.raises(RunError, match="Canceled"):
        open_bundle(bundle, tmp_path / "there", stop)
    assert not (tmp_path / "there").exists()
    assert not [*tmp_path.glob(".workbench-unbundle-*")]


def test_nothing_is_unpacked_over_other_files(bundle, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.txt").touch()
    with pytest.raises(SaveError, match="not unpacked over"):
        open_bundle(bundle, tmp_path / "there")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SaveError, match="not unpacked over"):
        open_bundle(bundle, tmp_path / "link")


def test_several_folders_come_out_again(tmp_path):
    folders = tuple(str(write_stripes(tmp_path / name, 3)) for name in ("here", "there"))
    chosen = Project(dataset=Choice("folders", {"paths": folders}))
    save_project(chosen, tmp_path / "f.workbench")
    write_bundle(plan_bundle(tmp_path / "f.workbench"), tmp_path / "f.workbundle")
    opened = open_bundle(tmp_path / "f.workbundle", tmp_path / "new")
    found = read_project(opened.project).dataset.params["paths"]
    assert list(found) == [
        str(tmp_path / "new" / "images" / each) for each in ("0/here", "1/there")
    ]


def test_tables_are_refused_in_words(tmp_path):
    (tmp_path / "list.csv").write_text("path,label\n/etc/hostname,a\n")
    table = Project(dataset=Choice("csv", {"path": str(tmp_path / "list.csv")}))
    save_project(table, tmp_path / "t.workbench")
    with pytest.raises(DatasetError, match="cannot be bundled"):
        plan_bundle(tmp_path / "t.workbench")


def test_patterns_are_refused_in_words(tmp_path):
    (tmp_path / "a.tfrec").touch()
    records = Project(dataset=Choice("tfrecord", {"path": str(tmp_path / "*.tfrec")}))
    save_project(records, tmp_path / "t.workbench")
    with pytest.raises(DatasetError, match="a pattern names cannot be bundled"):
        plan_bundle(tmp_path / "t.workbench")


@pytest.mark.parametrize("name", [b"\xff.png", b"a\nb.png", b"a\\b.png"])
def test_a_name_that_would_not_come_out_again_is_named(project, tmp_path, name):
    (tmp_path / "stripes" / "high" / os.fsdecode(name)).touch()
    with pytest.raises(DatasetError, match="name that cannot be bundled"):
        plan_bundle(project)


HARMFUL = (
    "../evil",
    "/etc/evil",
    "runs/../../evil",
    "runs/a/../../../x",
    "evil.sh",
    "images/.hidden",
    "runs/x",
    "C:\\x",
    "images/a\\..\\b",
    "images//a",
    "images/a\nb",
    "images/0",
)


@pytest.mark.parametrize("name", HARMFUL)
def test_other_names_are_refused(bundle, tmp_path, name):
    with zipfile.ZipFile(bundle, "a") as archive:
        archive.writestr(name, b"x")
    with pytest.raises(InputError):
        open_bundle(bundle, tmp_path / "there")
    assert not (tmp_path / "there").exists()


def _with_facts(bundle, **changes):
    kept = zipfile.ZipFile(bundle)
    other = bundle.with_name("other.workbundle")
    with zipfile.ZipFile(other, "w") as archive:
        for info in kept.infolist():
            data = kept.read(info)
            if info.filename == "bundle.json":
                data = json.dumps({**json.loads(data), **changes}).encode()
            archive.writestr(info.filename, data)
    return other


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 99},
        {"format": "x"},
        {"runs": ["../../x"]},
        {"runs": ["no-such"]},
        {"project": "images/0/stripes/high/001.png"},
        {"project": "/etc/passwd"},
        {"runs": 3},
    ],
)
def test_facts_that_are_not_so_are_refused(bundle, tmp_path, changes):
    with pytest.raises(InputError):
        open_bundle(_with_facts(bundle, **changes), tmp_path / "there")
    assert not (tmp_path / "there").exists()


def test_a_run_that_is_named_twice_is_refused(bundle, tmp_path):
    (run,) = json.loads(zipfile.ZipFile(bundle).read("bundle.json"))["runs"]
    with pytest.raises(InputError, match="a run twice"):
        open_bundle(_with_facts(bundle, runs=[run, run]), tmp_path / "there")


def test_nothing_is_unpacked_whose_runs_cannot_be_listed(bundle, tmp_path):
    record = data_home() / "outside-runs.json"
    record.mkdir(parents=True)
    with pytest.raises(SaveError):
        open_bundle(bundle, tmp_path / "there")
    assert not (tmp_path / "there").exists()
    record.rmdir()
    assert open_bundle(bundle, tmp_path / "there").runs


def test_links_and_twice_the_same_name_are_refused(bundle, tmp_path):
    link = zipfile.ZipInfo("images/0/link")
    link.external_attr = 0o120777 << 16
    other = shutil.copy(bundle, tmp_path / "linked.workbundle")
    with zipfile.ZipFile(other, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(InputError, match="links"):
        open_bundle(tmp_path / "linked.workbundle", tmp_path / "there")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"no zip at all" * 99])
def test_what_is_no_bundle_is_refused_in_words(tmp_path, data):
    (tmp_path / "x.workbundle").write_bytes(data)
    with pytest.raises(InputError, match="no bundle"):
        open_bundle(tmp_path / "x.workbundle", tmp_path / "there")


@pytest.mark.parametrize(
    ("make", "said"), [("mkdir", "a folder"), ("touch", None), ("", "No such")]
)
def test_what_cannot_be_read_is_said_to_be_so(tmp_path, make, said):
    path = tmp_path / "x.workbundle"
    if make:
        getattr(path, make)()
    if said is None:
        path.unlink()
        os.mkfifo(path)
    with pytest.raises(InputError, match="cannot be read") as found:
        open_bundle(path, tmp_path / "there")
    assert (said or "not a regular file") in found.value.received
    assert not (tmp_path / "there").exists()


def test_a_place_of_the_bundle_cannot_name_one_outside(bundle, tmp_path):
    other = _with_facts(bundle, places={str(tmp_path / "stripes"): "../../etc"})
    (run,) = open_bundle(other, tmp_path / "there").runs
    assert "etc" not in (run / "request.json").read_text()


@pytest.mark.worker
def test_it_evaluates_the_same_elsewhere(tmp_path):
    """On another computer: another home, and the images of the first one are gone."""
    write_stripes(tmp_path / "photos", 90)
    save_project(stripes_project(tmp_path / "photos", epochs=1), tmp_path / "s.workbench")

    def answer(home, *words):
        result = subprocess.run(
            [sys.executable, "-m", "workbench", *map(str, words), "--json"],
            env={**os.environ, "WORKBENCH_HOME": str(tmp_path / home)},
            capture_output=True,
            text=True,
            check=False,
            timeout=280,
        )
        assert result.returncode == 0, result.stderr + result.stdout
        return json.loads(result.stdout.splitlines()[-1])

    run = answer("home", "train", tmp_path / "s.workbench")["run"]
    before = answer("home", "evaluate", run)
    answer("home", "bundle", tmp_path / "s.workbench", tmp_path / "s.workbundle")
    for gone in ("photos", "home"):
        shutil.rmtree(tmp_path / gone)
    opened = answer("other", "unbundle", tmp_path / "s.workbundle", tmp_path / "there")
    (there,) = opened["runs"]
    after = answer("other", "evaluate", there)
    for key in ("loss", "accuracy", "confusion", "per_class"):
        assert after[key] == before[key]
    image = next((tmp_path / "there" / "images").rglob("*.png"))
    assert answer("other", "classify", there, image)["label"]
    assert answer("other", "resume", there, "--epochs", 2)["outcome"] == "completed"
