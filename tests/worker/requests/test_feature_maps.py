"""ShowLayer as a request to the real worker."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from tests.bright_network import bright_picture
from workbench.protocol.trained.feature_maps import LayerShown, ShowLayer

pytestmark = pytest.mark.worker


@pytest.fixture
def picture(tmp_path):
    return bright_picture(tmp_path)


def pixels_of(path):
    with Image.open(path) as image:
        return np.array(image)


def test_the_maps_of_the_first_layer_with_weights(service, bright_run, picture):
    answer = service.done(ShowLayer, model=bright_run, picture=picture, with_figure=True)
    assert isinstance(answer, LayerShown)
    assert (answer.layer, answer.what, answer.shape) == ("conv2d_1", "maps", [32, 32, 1])
    assert [place.title for place in answer.layers] == [
        "Input",
        "Conv2D",
        "GlobalAveragePooling2D",
        "Dense",
    ]
    (channel,) = answer.channels
    assert (channel.least, channel.largest, channel.zeros) == (0, 250, 1 - 64 / 1024)
    assert (answer.columns, answer.tile, answer.total) == (1, [32, 32], 1)
    tile = pixels_of(answer.tiles_png)
    expected = np.zeros((32, 32), np.uint8)
    expected[4:12, 4:12] = 255  # the middle of the picture is what the network gets
    np.testing.assert_array_equal(tile, expected)
    figure = pixels_of(answer.figure_png)
    assert figure.shape == (64, 64, 3)
    assert figure[16, 16].tolist() == [253, 231, 37]
    assert answer.milliseconds > 0


def test_a_list_of_units_has_a_tile_of_one_place_each(service, bright_run, picture):
    answer = service.done(
        ShowLayer, model=bright_run, picture=picture, layer="dense_3", order="index"
    )
    assert answer.tile == [1, 1]
    first, second = answer.channels
    assert first.mean + second.mean == pytest.approx(1)
    assert first.histogram == []
    strongest = service.done(ShowLayer, model=bright_run, picture=picture, layer="dense_3", most=1)
    (one,) = strongest.channels
    assert one.index == int(second.mean > first.mean)
    assert (strongest.total, strongest.columns) == (2, 1)


def test_filters_need_no_picture(service, bright_run):
    answer = service.done(
        ShowLayer, model=bright_run, what="filters", input_channel=7, with_figure=True
    )
    (channel,) = answer.channels
    assert (answer.what, answer.shape, answer.file) == ("filters", [1, 1, 1, 1], "")
    assert (channel.least, channel.low, channel.high) == (1, -1, 1)
    assert (answer.input_channels, answer.input_channel) == (1, 0)
    assert pixels_of(answer.tiles_png).tolist() == [[255]]
    assert pixels_of(answer.figure_png)[0, 0].tolist() == [178, 24, 43]


def test_what_cannot_be_shown_is_an_error(service, bright_run, picture):
    error = service.failed(ShowLayer, model=bright_run, picture=picture, layer="conv")
    assert error.expected == "input_0, conv2d_1, global_average_pooling2d_2, dense_3"
    assert "of an image" in service.failed(ShowLayer, model=bright_run).what
    error = service.failed(ShowLayer, model=bright_run, layer="dense_3", what="filters")
    assert error.expected == "conv2d_1"


def test_the_command_prints_the_table_and_writes_tiles_or_table(
    run_command, bright_run, picture, tmp_path, capsys
):
    tiles, table = tmp_path / "tiles.png", tmp_path / "table.csv"
    words = ["feature-maps", bright_run, picture, "--layer", "dense_3", "-o", str(tiles)]
    assert run_command([*words, "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    value = json.loads(line)
    assert (value["file"], value["layer"], value["shape"]) == (picture, "dense_3", [2])
    assert [each["name"] for each in value["layers"] if each["has_filters"]] == ["conv2d_1"]
    assert pixels_of(tiles).shape == (64, 130, 3)
    assert run_command(words) == 2
    capsys.readouterr()
    assert run_command([*words[:-1], str(table)]) == 0
    header, *rows = table.read_text().splitlines()
    assert header.split(",") == list(value["channels"][0])
    assert [float(cell) for cell in rows[0].split(",")] == list(value["channels"][0].values())


def test_the_command_shows_filters_without_a_picture(run_command, bright_run, tmp_path, capsys):
    assert run_command(["feature-maps", bright_run, "--filters"]) == 0
    said = capsys.readouterr().err
    assert "conv2d_1: kernel 1 × 1 × 1 × 1" in said
    assert said.splitlines()[-1].split() == ["0", *["1.0000"] * 4, "0.0%"]
    assert run_command(["feature-maps", bright_run, "-o", str(tmp_path / "a.jpg")]) == 2
    assert run_command(["feature-maps", bright_run, "--filters", "--most", "0"]) == 2
    assert run_command(["feature-maps", bright_run]) == 2
