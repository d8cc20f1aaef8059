"""The ONNX graph while it is written."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.specs.layer import OnnxLayer, OnnxValue, same
from workbench.errors import WeightsError
from workbench.onnx.writer import OnnxWriter, WrittenLayer

IMAGE = OnnxValue("image", (4, 5, 3))
FIRST = OnnxValue("first", (4, 5, 3), is_channels_first=True)


def layer_of(*inputs, shape=(4, 5, 3), **weights):
    named = {f"layer/{name}": array for name, array in weights.items()}
    return WrittenLayer(OnnxWriter(), {}, inputs, shape, named, "layer")


def count(writer, kind):
    return sum(kind.encode() in part for part in writer.parts)


def test_arrays_become_constants_and_names_are_new():
    writer = OnnxWriter()
    first = writer.op("Add", "x", np.ones(2, np.float32))
    second = writer.op("TopK", first, np.array([1], np.int64), num_outputs=2, axis=-1)
    assert len({first, second, "x"}) == 3
    assert len(writer.parts) == 4  # two constants, two operators
    assert all(name.encode() in writer.parts[-1] for name in (first, second))


def test_an_image_is_transposed_once_however_many_need_it():
    writer = OnnxWriter()
    turned = writer.first(IMAGE)
    assert writer.first(IMAGE) == turned != IMAGE.name
    assert count(writer, "Transpose") == 1
    assert writer.last(IMAGE) == IMAGE.name
    assert writer.first(FIRST) == FIRST.name


def test_a_transposed_image_turned_back_is_the_first_one():
    writer = OnnxWriter()
    turned = OnnxValue(writer.first(IMAGE), IMAGE.shape, is_channels_first=True)
    assert writer.last(turned) == IMAGE.name
    assert count(writer, "Transpose") == 1


def test_an_output_gets_a_second_name():
    writer = OnnxWriter()
    writer.name("t1", "scores")
    (part,) = writer.parts
    assert all(word in part for word in (b"Identity", b"t1", b"scores"))


def test_a_layers_weights_are_float32_by_kerass_names():
    layer: OnnxLayer = layer_of(IMAGE, kernel=np.ones(3))
    assert layer.weight("kernel").dtype == np.float32
    with pytest.raises(WeightsError, match="layer/bias"):
        layer.weight("bias")


def test_what_works_on_each_number_keeps_the_axes():
    layer = layer_of(FIRST)
    out = layer.mapped("Relu", FIRST)
    assert (out.shape, out.is_channels_first) == (FIRST.shape, True)
    out = layer.mapped("Max", "constant", IMAGE)
    assert (out.shape, out.is_channels_first) == (IMAGE.shape, False)
    assert layer.first(FIRST) == FIRST.name
    assert layer.last(IMAGE) == IMAGE.name
    assert layer.out("t", is_channels_first=True) == OnnxValue("t", (4, 5, 3), True)


def test_numbers_of_the_channels_broadcast_to_a_tensor():
    layer, numbers = layer_of(IMAGE), np.arange(3, dtype=np.float32)
    assert layer.by_channel(numbers, IMAGE).shape == (3,)
    assert layer.by_channel(numbers, FIRST).shape == (3, 1, 1)
    assert (IMAGE.channel_axis, FIRST.channel_axis) == (-1, 1)


def test_a_layer_of_training_alone_is_what_comes_in():
    assert same(layer_of(IMAGE)) is IMAGE
