"""A project goes out as a notebook, is trained there, and comes back as a run."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest

from tests.contexts import PlainContext
from tests.worker.conftest import chain, stripes
from tests.worker.requests.conftest import Away, notebook_project
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import project_text, save_project
from workbench.datasets import all_datasets
from workbench.pictures.png import write_png
from workbench.pictures.prepare import prepare
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import EpochFinished, RunFinished, RunStarted
from workbench.protocol.export import ExportProject
from workbench.protocol.messages import Done, Failed
from workbench.protocol.trained.evaluate import Evaluate
from workbench.protocol.weights import LoadWeights
from workbench.runs.folder import RunFolder
from workbench.runs.library.index import list_runs
from workbench.runs.log.event_log import read_all
from workbench.runs.log.history import MetricHistory
from workbench.templates import find_template, list_templates
from workbench.worker.input.sources import load_data

pytestmark = pytest.mark.worker

LIMIT = 1e-5


# what is written ---------------------------------------------------------------------------


@pytest.mark.full
def test_every_template_is_a_valid_notebook_and_a_formatted_script(away, tmp_path):
    few = Choice("folder", {"path": str(tmp_path / "few")})  # the 1,000 photos take their time
    for number in range(20):
        (tmp_path / "few" / str(number % 5)).mkdir(parents=True, exist_ok=True)
        write_png(tmp_path / "few" / str(number % 5) / f"{number}.png", stripes(20, 1)[0][number])
    for template in list_templates():
        is_packed = not all_datasets()[template.project.dataset.key].program
        project = replace(template.project, dataset=few) if is_packed else template.project
        path = away.export(project, tmp_path / f"{template.key}.ipynb")
        assert (tmp_path / f"{template.key}.images.npz").is_file() is is_packed
        book = nbformat.read(path, as_version=4)
        nbformat.validate(book)
        assert (book.nbformat, book.nbformat_minor) == (4, 5)
        cells = [cell.source for cell in book.cells if cell.cell_type == "code"]
        for source in cells:
            ast.parse(source)
        script = away.export(project, tmp_path / f"{template.key}.py").read_text()
        ast.parse(script)
        assert all(source.strip() in script for source in cells)
        assert '"tensorflow-tpu": "2.19.1", "libtpu": "0.0.10", "keras": "3.15.1"' in script
        assert str(Path.home()) not in script
    words = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--no-cache", "--line-length", "100", str(tmp_path)]
    for check in (["format", "--check", "--diff"], ["check", "--ignore", "E402"]):
        command = [*words, *check, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[:3000]


@pytest.mark.full
def test_images_that_come_with_workbench_are_packed_as_a_run_has_them(away, tmp_path):
    project = find_template("flowers_dense").project
    path = tmp_path / "flowers.ipynb"
    answer = away.done(
        ExportProject, project=project_text(project), format="notebook", path=str(path)
    )
    assert f"Take {tmp_path / 'flowers.images.npz'} along" in answer.text
    assert "720 training, 80 validation and 200 test images of 5 classes" in answer.text
    loaded = load_data(PlainContext(tmp_path), project)
    here = prepare(
        loaded, shape=(192, 192, 3), fit="crop", recipe=project.recipe, ctx=PlainContext(tmp_path)
    )
    with np.load(tmp_path / "flowers.images.npz") as packed:
        assert packed["class_names"].tolist() == list(loaded.class_names)
        for name in ("train", "validation", "test"):
            part = getattr(here, name)
            assert np.array_equal(packed[f"x_{name}"], part.x[np.arange(len(part))])
            assert np.array_equal(packed[f"y_{name}"], part.y)


def test_what_cannot_be_packed_is_refused_and_nothing_written(away, tmp_path):
    gone = notebook_project(tmp_path / "gone.npz")
    for kind, name in (("notebook", "a.ipynb"), ("tpu_script", "a.py")):
        words = {"project": project_text(gone), "format": kind, "path": str(tmp_path / name)}
        *_, answer = away.answers(ExportProject, **words)
        assert "cannot be packed" in answer.error.what
        assert answer.error.fix
    other = replace(gone, dataset=Choice("npz", {"path": str(away.folder / "four.npz")}))
    x = np.zeros((40, 8, 8), np.uint8)
    np.savez(away.folder / "four.npz", x=x, y=np.arange(40) % 4)
    words["project"] = project_text(other)
    *_, answer = away.answers(ExportProject, **words)
    assert answer.error.received.startswith("The network has 3 outputs, and the data set 4 classes")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_and_a_broken_network_are_reported(away, tmp_path):
    path, text = tmp_path / "x.ipynb", project_text(notebook_project(away.data))
    (answer,) = away.answers(ExportProject, project=text, format="keras", path=str(path))
    assert "notebook" in answer.error.expected
    broken = project_text(Project(graph=chain(("input", {"shape": (8, 8, 1)}))))
    *_, answer = away.answers(ExportProject, project=broken, format="notebook", path=str(path))
    assert isinstance(answer, Failed)
    assert not path.exists()


# there and back ----------------------------------------------------------------------------


def test_a_notebook_comes_back_as_a_run_that_answers_as_keras_did_there(away, trained):
    some, folder = trained
    run = read_back(away, some, folder).path
    there = np.load(folder / "answers.npy")
    assert np.ptp(there, axis=0).max() > 0.01  # the answers do depend on the picture
    assert np.abs(away.probabilities(run) - there).max() <= LIMIT


def test_its_curve_is_the_runs_curve(away, trained):
    some, folder = trained
    run = RunFolder(Path(read_back(away, some, folder).path))
    with zipfile.ZipFile(folder / "workbench_result.zip") as archive:
        history_file = json.loads(archive.read("history.json"))
    events, history = read_all(run.events_path), MetricHistory()
    history.add_all(events)
    assert history.steps.tolist() == [1, 2, 3, 4]
    assert history.losses.tolist() == pytest.approx(history_file["losses"])
    epochs = [event for event in events if isinstance(event, EpochFinished)]
    assert [epoch.val_loss for epoch in epochs] == [
        one["val_loss"] for one in history_file["epochs"]
    ]
    assert history.elapsed_s == pytest.approx(
        sum(one["seconds"] for one in history_file["epochs"]), rel=0.5
    )
    started, finished = events[0], events[-1]
    assert isinstance(started, RunStarted)
    assert (started.target, started.replicas) == ("a notebook (CPU)", 1)
    assert isinstance(finished, RunFinished)
    assert finished.test.count == 61
    (summary,) = [one for one in list_runs(away.home / "runs") if one.path == run.path]
    assert (summary.outcome, summary.has_model, summary.epochs_done) == ("completed", True, 2)


def test_the_test_pictures_are_scored_here_as_there(away, trained):
    some, folder = trained
    run = read_back(away, some, folder).path
    here = away.done(Evaluate, model=run)
    there = RunFolder(Path(run)).model_card().test
    assert here.accuracy == pytest.approx(there.accuracy)
    assert here.loss == pytest.approx(there.loss, abs=LIMIT)
    assert sum(score.count for score in here.per_class) == there.count == 61


@pytest.mark.full
def test_everything_a_recipe_has_trains_on_two_cores_and_comes_back(away):
    """And keeps the test part apart that Workbench keeps apart, where the data has none."""
    some = notebook_project(
        away.folder / "whole.npz", steps_per_call=3, mixing="mixup", random_erasing=0.2,
        label_smoothing=0.1, class_weights="balanced", top_k=2, ema_decay=0.5, clip_norm=1.0,
        schedule="cosine", optimizer="adamw", weight_decay=0.01, decay_biases=False, keep="best",
    )  # fmt: skip
    folder = away.train(some, "everything.py", 2)
    run = read_back(away, some, folder).path
    there = np.load(folder / "answers.npy")
    assert np.abs(away.probabilities(run) - there).max() <= LIMIT
    card = RunFolder(Path(run)).model_card()
    here = away.done(Evaluate, model=run)
    assert here.accuracy == pytest.approx(card.test.accuracy)
    assert here.loss == pytest.approx(card.test.loss, abs=LIMIT)
    assert sum(score.count for score in here.per_class) == card.test.count == 12
    assert card.recipe["mixing"] == "mixup"


def test_its_calls_are_traced_for_a_tpu_of_eight_cores(away):
    """By the real strategy for TPUs: fixed shapes, one loop, gradients added up by the cores."""
    some = notebook_project(
        away.data, precision="bfloat16", mixing="cutmix", class_weights="balanced", clip_norm=1.0,
        ema_decay=0.9, loss="focal", top_k=2, schedule="one_cycle", optimizer="lamb",
    )  # fmt: skip
    assert away.trace(some, "traced.ipynb", 8) == []


def test_the_commands_write_and_read_back(trained, run_command, tmp_path, capsys):
    some, folder = trained
    path = tmp_path / "stripes.workbench"
    save_project(some, path)
    assert run_command(["notebook", str(path), str(tmp_path / "out.ipynb"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "notebook"
    nbformat.validate(nbformat.read(tmp_path / "out.ipynb", as_version=4))
    assert run_command(["readback", str(folder / "workbench_result.zip"), str(path), "--json"]) == 0
    assert RunFolder(Path(json.loads(capsys.readouterr().out)["run"])).model_card().epochs_done == 2
    assert run_command(["notebook", str(path), str(tmp_path / "out.txt")]) == 2
    assert run_command(["readback", str(path), str(path)]) == 2


def read_back(away: Away, some: Project, folder: Path) -> Done:
    zipped = str(folder / "workbench_result.zip")
    return away.done(LoadWeights, project=project_text(some), weights=zipped)


# hostile results ---------------------------------------------------------------------------


def changed(name, change):
    """The same archive with one member changed; None removes it."""

    def spoil(members):
        made = change(members[name])
        return {**members, name: made} if made is not None else {
            key: data for key, data in members.items() if key != name
        }  # fmt: skip

    return spoil


def card_with(**values):
    return changed("card.json", lambda data: json.dumps(json.loads(data) | values).encode())


def history_with(**values):
    return changed("history.json", lambda data: json.dumps(json.loads(data) | values).encode())


HOSTILE = {
    "a strange member": lambda members: {**members, "../../evil.py": b"boom"},
    "no weights": changed("weights.weights.h5", lambda data: None),
    "no curve": changed("history.json", lambda data: None),
    "no card": changed("card.json", lambda data: None),
    "weights that are none": changed("weights.weights.h5", lambda data: b"PK" + data[:100]),
    "cut weights": changed("weights.weights.h5", lambda data: data[: len(data) // 2]),
    "a bomb as curve": changed("history.json", lambda data: bytes(70 << 20)),
    "a bomb as card": changed("card.json", lambda data: b" " * (5 << 20) + data),
    "a bomb as weights": changed("weights.weights.h5", lambda data: bytes(70 << 20)),
    "no JSON": changed("card.json", lambda data: b"\xff{"),
    "nested JSON": changed("history.json", lambda data: b"[" * 100_000),
    "another version": card_with(version=2),
    "another program": card_with(format="x" * 90),
    "a long name": card_with(class_names=["x" * 300]),
    "negative figures": card_with(batch_size=-1),
    "a curve too short": history_with(losses=[1.0]),
    "an endless curve": history_with(losses=[1.0] * 9, accuracies=[1.0] * 9),
    "an epoch left out": changed(
        "history.json",
        lambda data: data.replace(b'"epoch": 2, "step": 4', b'"epoch": 3, "step": 6'),
    ),
    "NaN": changed("history.json", lambda data: data.replace(b'"test": {', b'"x": NaN, "test": {')),
    "text as loss": history_with(losses=["a"] * 4),
    "best of none": card_with(best_epoch=77),
}


@pytest.mark.parametrize("spoil", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_result_is_refused_and_nothing_is_made(away, trained, tmp_path, spoil):
    some, folder = trained
    with zipfile.ZipFile(folder / "workbench_result.zip") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in spoil(members).items():
            archive.writestr(name, data)
    assert refused(away, some, tmp_path / "x.zip").kind == "WeightsError"


def test_two_members_of_one_name_are_refused(away, trained, tmp_path):
    some, folder = trained
    shutil.copy(folder / "workbench_result.zip", tmp_path / "x.zip")
    with (
        zipfile.ZipFile(tmp_path / "x.zip", "a") as archive,
        pytest.warns(UserWarning, match="Duplicate name"),
    ):
        archive.writestr("card.json", b"{}")
    assert "two members with the same name" in refused(away, some, tmp_path / "x.zip").what


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06", b"x" * 1000], ids=["none", "cut", "text"])
def test_what_is_no_zip_is_refused(away, trained, tmp_path, content):
    (tmp_path / "x.zip").write_bytes(content)
    assert refused(away, trained[0], tmp_path / "x.zip").kind == "WeightsError"


def test_the_result_of_another_network_is_refused(away, trained):
    other = Project(
        graph=chain(
            ("input", {"shape": (8, 8, 1)}),
            ("flatten", {}),
            ("dense", {"units": 3, "activation": "softmax"}),
        )
    )
    error = refused(away, other, trained[1] / "workbench_result.zip")
    assert "a different model" in error.what


def refused(away: Away, some: Project, path: Path) -> ErrorParts:
    before = sorted((away.home / "runs").iterdir())
    answer = away.answers(LoadWeights, project=project_text(some), weights=str(path))[-1]
    assert isinstance(answer, Failed), answer
    assert sorted((away.home / "runs").iterdir()) == before
    assert not list(path.parent.glob("evil*")) + list(path.parent.parent.parent.glob("evil*"))
    return answer.error
