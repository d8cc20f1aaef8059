"""Explain as a request to the real worker, and as a command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from tests.bright_network import BRIGHT, bright_picture
from workbench.protocol.classify import Classified, Classify
from workbench.protocol.trained.explain import Explain, Explained

pytestmark = pytest.mark.worker


@pytest.fixture
def picture(tmp_path):
    return bright_picture(tmp_path)


def levels_of(path):
    with Image.open(path) as image:
        return np.array(image)


@pytest.mark.parametrize("method", ["gradcam", "occlusion", "gradients"])
def test_the_map_lies_on_the_whole_picture(service, bright_run, picture, method):
    answer = service.done(
        Explain, model=bright_run, picture=picture, method=method, with_overlay=True
    )
    assert isinstance(answer, Explained)
    *_, classified, _ = service.answers(Classify, model=bright_run, pictures=[picture])
    assert isinstance(classified, Classified)
    assert (answer.class_name, answer.probability) == (
        classified.label,
        pytest.approx(classified.scores[0].probability),
    )
    assert answer.method == method
    assert (
        answer.layers
        == {"gradcam": ["conv2d_1"], "occlusion": [], "gradients": ["input_0"]}[method]
    )
    levels = levels_of(answer.heat_png)
    assert levels.shape == (32, 64)
    assert not levels[:, :16].any()  # what was cropped has no value
    assert not levels[:, 48:].any()
    assert levels[:, 16:48].all()
    overlay = levels_of(answer.overlay_png)
    assert overlay.shape == (32, 64, 3)
    assert (overlay[:, :16] == 0).all()
    if method != "gradients":  # the same everywhere for a mean
        middle = levels[:, 16:48].astype(float)
        is_bright = np.zeros((32, 64), bool)
        is_bright[BRIGHT] = True
        assert levels[BRIGHT].max() == 255
        assert np.median(middle) < 10
        assert levels[is_bright].mean() > 10 * levels[:, 16:48][~is_bright[:, 16:48]].mean()
    assert (answer.check_png, answer.correlation) == ("", None)


def test_the_last_convolution_is_taken_where_that_is_wanted(service, bright_run, picture):
    """A network with one convolution has a choice, too: the convolution, or what follows it."""
    last = service.done(Explain, model=bright_run, picture=picture, at_last=True)
    named = service.done(Explain, model=bright_run, picture=picture, layer=last.layers[0])
    assert (levels_of(last.heat_png) == levels_of(named.heat_png)).all()
    assert len(last.layers) == 1


def test_the_other_class_has_an_empty_map_and_a_note(service, bright_run, picture):
    answer = service.done(Explain, model=bright_run, picture=picture, class_name="dark")
    assert answer.class_name == "dark"
    assert answer.note == "The map is empty: nothing in the image raises the score of “dark”."
    assert set(levels_of(answer.heat_png).ravel().tolist()) == {0, 1}


def test_the_check_gives_a_map_of_random_weights_and_a_correlation(service, bright_run, picture):
    answer = service.done(Explain, model=bright_run, picture=picture, with_check=True)
    assert levels_of(answer.check_png).shape == (32, 64)
    again = service.done(Explain, model=bright_run, picture=picture)
    assert (levels_of(again.heat_png) == levels_of(answer.heat_png)).all()
    assert answer.correlation is None or -1 <= answer.correlation <= 1


def test_an_unknown_class_names_those_there_are(service, bright_run, picture):
    error = service.failed(Explain, model=bright_run, picture=picture, class_name="Light")
    assert (error.what, error.received, error.expected) == (
        "Unknown class.",
        "Light",
        "light, dark",
    )


def test_a_picture_that_cannot_be_read_is_an_error(service, bright_run, tmp_path):
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"\x89PNG\r\n\x1a\nnonsense")
    assert service.failed(Explain, model=bright_run, picture=str(bad)).kind == "PictureError"


def test_the_command_writes_the_overlay_and_prints_its_facts(
    run_command, bright_run, picture, tmp_path, capsys
):
    out = tmp_path / "out.png"
    words = ["explain", bright_run, picture, str(out), "--class", "light", "--json"]
    assert run_command(words) == 0
    (line,) = capsys.readouterr().out.splitlines()
    value = json.loads(line)
    assert (value["file"], value["class"], value["method"]) == (picture, "light", "gradcam")
    assert value["milliseconds"] > 0
    assert levels_of(out).shape == (32, 64, 3)
    assert run_command(words) == 2
    assert "already exists" in json.loads(capsys.readouterr().out)["error"]["what"]
    assert run_command([*words[:-1], "--force", "--method", "occlusion", "--compare"]) == 0
    said = capsys.readouterr().err
    assert "Occlusion for light (95.8%)" in said
    assert "rank correlation" in said or "cannot be compared" in said


def test_the_command_refuses_other_formats_and_classes(
    run_command, bright_run, picture, tmp_path, capsys
):
    out = tmp_path / "out.jpg"
    assert run_command(["explain", bright_run, picture, str(out), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["expected"] == "OUT.png"
    out = tmp_path / "out.png"
    assert run_command(["explain", bright_run, picture, str(out), "--class", "cat", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["expected"] == "light, dark"
    assert not out.exists()
