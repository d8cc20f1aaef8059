"""An image with alterations, and the robustness of a run: real worker, trainer and command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from tests.worker.conftest import chain, stripes
from workbench.alterations import altered
from workbench.core.projects.project import MAX_NAME, MAX_TESTS, Choice, Project, RobustnessTest
from workbench.core.projects.project_file import graph_to_plain, read_project, save_project
from workbench.layers import all_layers
from workbench.protocol.classify import Classified, Classify, ClassifyAltered
from workbench.protocol.trained.calibration import Calibration
from workbench.protocol.trained.evaluate import (
    Evaluate,
)
from workbench.protocol.trained.robustness import (
    MeasureRobustness,
    NamedStrengths,
    Robustness,
)
from workbench.runs.folder import create_run
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.evaluation import read_robustness
from workbench.runs.store.weights_file import write_arrays
from workbench.worker.model.build import build_model, read_weights

pytestmark = pytest.mark.worker

CAMERA = RobustnessTest("Camera", {"rotation": 180, "noise": 8})


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("altered") / "stripes.npz"
    (x_train, y_train), (x_test, y_test) = stripes(60, 1), stripes(90, 2)
    np.savez(path, x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test)
    return path


@pytest.fixture(scope="module")
def run(data, tmp_path_factory):
    """A run that gives the class of the brightest of three rows: turned by 180°, always another."""
    graph = chain(
        ("input", {"shape": (8, 8, 1)}),
        ("flatten", {}),
        ("dense", {"units": 3, "activation": "softmax"}),
    )
    built = build_model(graph, all_layers(), whole=True, pretrained=False, seed=1)
    kernel = np.zeros((8, 8, 3), np.float32)
    for label in range(3):
        kernel[1 + 2 * label, :, label] = 0.01
    built.layers["n2"].kernel.assign(kernel.reshape(64, 3))
    project = Project(graph=graph, dataset=Choice("npz", {"path": str(data)}), robustness=(CAMERA,))
    folder = create_run(project, home=tmp_path_factory.mktemp("altered-home"))
    write_card(
        folder.path,
        ModelCard(
            class_names=["0", "1", "2"],
            input_shape=[8, 8, 1],
            fit="crop",
            graph=graph_to_plain(graph),
            dataset={"key": "npz", "params": {"path": str(data)}},
            checksum=write_arrays(folder.weights_path, read_weights(built)),
        ),
    )
    return folder


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "picture.png"
    Image.fromarray(stripes(1, 5)[0][0, ..., 0]).save(path)
    return str(path)


def test_without_alterations_the_answer_is_that_of_classify(service, run, picture):
    answer = service.done(ClassifyAltered, model=str(run.path), picture=picture)
    (classified, _) = service.answers(Classify, model=str(run.path), pictures=[picture])
    assert isinstance(classified, Classified)
    assert answer.scores == classified.scores


def test_the_altered_image_is_what_the_model_gets(service, run, picture):
    strengths = {"rotation": 90.0, "brightness": 50.0}
    answer = service.done(
        ClassifyAltered, model=str(run.path), picture=picture, strengths=strengths
    )
    with Image.open(picture) as image:
        wanted = altered(np.array(image)[..., None], strengths)
    with Image.open(answer.input_bitmap) as image:
        assert np.array_equal(np.array(image), wanted[..., 0])
    (classified, _) = service.answers(Classify, model=str(run.path), pictures=[answer.input_bitmap])
    assert answer.scores == classified.scores


def test_another_picture_in_the_same_file_is_read_again(service, run, picture):
    before = service.done(ClassifyAltered, model=str(run.path), picture=picture)
    Image.fromarray(stripes(2, 5)[0][1, ..., 0]).save(picture)
    after = service.done(ClassifyAltered, model=str(run.path), picture=picture)
    assert (before.scores[0].name, after.scores[0].name) == ("0", "1")


def test_an_altered_image_can_be_unknown(service, run, picture):
    card = run.model_card()
    doubtful = Calibration(least_probability=0.999)
    write_card(run.path, msgspec.structs.replace(card, calibration=doubtful))
    dark = {"brightness": -90.0}
    try:
        answer = service.done(ClassifyAltered, model=str(run.path), picture=picture, strengths=dark)
    finally:
        write_card(run.path, card)
    assert answer.unknown.startswith("not confident enough")
    again = service.done(ClassifyAltered, model=str(run.path), picture=picture, strengths=dark)
    assert again.unknown == ""


def test_only_the_latest_files_stay(service, run, picture):
    files = [
        service.done(
            ClassifyAltered, model=str(run.path), picture=picture, strengths={"rotation": degrees}
        ).input_bitmap
        for degrees in range(12)
    ]
    folder = {path.name for path in Path(files[0]).parent.iterdir()}
    assert len(folder) <= 8
    assert Path(files[-1]).name in folder


def test_what_is_wrong_is_reported(service, run, picture, tmp_path):
    model = str(run.path)
    missing = service.failed(ClassifyAltered, model=model, picture=str(tmp_path / "no.png"))
    assert missing.kind == "PictureError"
    unknown = service.failed(ClassifyAltered, model=model, picture=picture, strengths={"fog": 1})
    assert (unknown.kind, unknown.received) == ("UsageError", "fog")
    nothing = NamedStrengths(name="Nothing", strengths={"jpeg": 100})
    empty = service.failed(MeasureRobustness, model=model, tests=[nothing])
    assert empty.received == "Nothing"


def test_each_alteration_is_measured_alone_and_all_together(service, run):
    answer = service.done(MeasureRobustness, model=str(run.path))
    assert isinstance(answer, Robustness)
    assert (answer.count, answer.total) == (90, 90)
    assert answer.accuracy == service.done(Evaluate, model=str(run.path)).accuracy == 1.0
    found = {tuple(each.strengths.items()): each for each in answer.measured}
    assert list(found) == [
        (("rotation", 90.0),),
        (("rotation", 180.0),),
        (("noise", 4.0),),
        (("noise", 8.0),),
        (("rotation", 90.0), ("noise", 4.0)),
        (("rotation", 180.0), ("noise", 8.0)),
    ]
    # Upside down, row 1 is row 6, and row 3 is row 4: no class; row 5 is row 2.
    upside_down = found[("rotation", 180.0),]
    assert (upside_down.test, upside_down.level) == ("Camera", 1.0)
    assert upside_down.accuracy < 0.6
    assert found[("noise", 4.0),].accuracy == 1.0
    kept = read_robustness(run)
    assert kept.result == msgspec.structs.replace(answer, id=0)
    assert kept.checksum == run.model_card().checksum


def test_the_accuracy_is_that_of_the_altered_images_one_by_one(service, run, data, tmp_path):
    with np.load(data) as arrays:
        pixels, labels = arrays["x_test"], arrays["y_test"]
    test = NamedStrengths(name="Turned", strengths={"rotation": 40, "noise": 20})
    answer = service.done(MeasureRobustness, model=str(run.path), tests=[test], images=30)
    chosen = np.linspace(0, 89, 30).round().astype(int)
    right = 0
    for number in chosen:
        path = tmp_path / f"{number}.png"
        Image.fromarray(pixels[number, ..., 0]).save(path)
        one = service.done(
            ClassifyAltered, model=str(run.path), picture=str(path), strengths=test.strengths
        )
        right += one.scores[0].name == str(labels[number])
    assert (answer.count, answer.total) == (30, 90)
    assert answer.measured[-1].accuracy == right / 30


def test_the_command_prints_what_is_kept(run_command, run, capsys, tmp_path):
    assert run_command(["robustness", str(run.path), "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert [each["level"] for each in value["measured"]] == [0.5, 1.0] * 3
    project = replace(run.project(), robustness=(RobustnessTest("Dark", {"brightness": -50}),))
    save_project(project, tmp_path / "dark.workbench")
    assert (
        run_command(["robustness", str(run.path), "--project", str(tmp_path / "dark.workbench")])
        == 0
    )
    text = capsys.readouterr().out
    assert "Dark" in text
    assert "Brightness -50%" in text
    assert read_robustness(run).result.measured[0].test == "Dark"
    assert run_command(["robustness", str(run.path), "--alter", "blur=4", "--images", "10"]) == 0
    assert "10 of 90 test images" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--alter", "blur"], "needs a strength"),
        (["--alter", "blur=x"], "needs a strength"),
        (["--alter", "rotation=0", "--alter", "blur=0"], "alter nothing"),
        (["--alter", "blur=99"], "out of its bounds"),
        (["--alter", "blur=2", "--project", "a.workbench"], "not both"),
        (["--images", "-1"], "no such number"),
        (["--name", "Soft"], "Nothing to save"),
    ],
)
def test_wrong_words_are_refused(run_command, run, capsys, words, fault):
    assert run_command(["robustness", str(run.path), *words]) != 0
    assert fault in capsys.readouterr().err


def test_a_test_is_saved_in_a_project_and_replaced_by_its_name(run_command, run, tmp_path):
    path = tmp_path / "p.workbench"
    save_project(run.project(), path)
    for strength in ("2", "4"):
        words = ["--alter", f"blur={strength}", "--images", "5", "--name", "Soft", "--save"]
        assert run_command(["robustness", str(run.path), *words, str(path)]) == 0
    assert read_project(path).robustness == (CAMERA, RobustnessTest("Soft", {"blur": 4.0}))


def test_nothing_is_saved_that_was_not_measured(run_command, run, capsys, tmp_path):
    path = tmp_path / "p.workbench"
    save_project(run.project(), path)
    words = ["--name", "x", "--save", str(path)]
    assert run_command(["robustness", str(run.path), "--alter", "rotation=0", *words]) != 0
    assert "alter nothing" in capsys.readouterr().err
    bare = create_run(run.project(), home=tmp_path)  # without weights
    assert run_command(["robustness", str(bare.path), "--alter", "blur=2", *words]) != 0
    assert read_project(path).robustness == (CAMERA,)


def test_a_test_that_cannot_be_saved_is_refused(run_command, run, capsys, tmp_path):
    path = tmp_path / "p.workbench"
    full = tuple(RobustnessTest(str(number), {"blur": 1.0}) for number in range(MAX_TESTS))
    save_project(replace(run.project(), robustness=full), path)
    words = ["robustness", str(run.path), "--alter", "blur=2", "--save", str(path)]
    assert run_command([*words, "--name", "x" * (MAX_NAME + 1)]) != 0
    assert "name of a robustness test cannot" in capsys.readouterr().err
    assert run_command(words) != 0
    assert f"at most {MAX_TESTS}" in capsys.readouterr().err
    assert read_project(path).robustness == full


def test_a_project_without_tests_is_refused_with_a_way_out(run_command, run, capsys, tmp_path):
    bare = create_run(replace(run.project(), robustness=()), home=tmp_path)
    for name in ("model.json", "weights.npz"):
        (bare.path / name).write_bytes((run.path / name).read_bytes())
    assert run_command(["robustness", str(bare.path)]) != 0
    assert "--alter" in capsys.readouterr().err
    save_project(bare.project(), tmp_path / "bare.workbench")
    words = ["robustness", str(run.path), "--project", str(tmp_path / "bare.workbench")]
    assert run_command(words) != 0
    assert "no robustness test" in capsys.readouterr().err
