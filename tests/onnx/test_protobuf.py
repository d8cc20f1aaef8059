"""The bytes of an ONNX file: by protobuf's own rules, and as ONNX Runtime reads them."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

from workbench.onnx import protobuf
from workbench.onnx.model import OPSET


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        (1, 150, "089601"),  # the example of protobuf's documentation
        (1, 0, "0800"),
        (3, 127, "187f"),
        (3, 128, "188001"),
        (16, 1, "800101"),  # a field number that needs two bytes
        (1, -1, "08ffffffffffffffffff01"),
        (1, -(2**63), "0880808080808080808001"),
    ],
)
def test_a_whole_number(field, value, wanted):
    assert protobuf.number(field, value).hex() == wanted


def test_text_and_bytes():
    assert protobuf.text(2, "testing").hex() == "120774657374696e67"  # that documentation's too
    assert protobuf.text(2, b"testing") == protobuf.text(2, "testing")
    assert protobuf.text(1, "ä") == b"\x0a\x02\xc3\xa4"
    assert protobuf.text(1, bytes(300))[:3] == b"\x0a\xac\x02"


def run(parts, inputs, outputs, feeds):
    """Runs a model; returns its outputs and the session."""
    model = protobuf.model(parts, inputs, outputs, OPSET)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, feeds), session


def node(kind, inputs, outputs, **attributes):
    return protobuf.text(1, protobuf.node(kind, inputs, outputs, attributes))


def test_ports_have_names_types_and_axes_of_any_length():
    image = protobuf.port("image", "uint8", ["n", 4, 3])
    out = protobuf.port("out", "uint8", ["n", 4, 3])
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    (got,), session = run([node("Identity", ["image"], ["out"])], [image], [out], {"image": pixels})
    np.testing.assert_array_equal(got, pixels)
    (port,) = session.get_inputs()
    assert (port.name, port.type, port.shape) == ("image", "tensor(uint8)", ["n", 4, 3])


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_constant_is_what_it_was(dtype, order):
    array = np.array([[0, 1, 2], [3, 0, 255]]).astype(dtype, order=order)
    out = protobuf.port("out", dtype, [2, 3])
    parts = [protobuf.text(5, protobuf.tensor("c", array)), node("Identity", ["c"], ["out"])]
    (got,), _ = run(parts, [], [out], {})
    np.testing.assert_array_equal(got, array)
    assert got.dtype == array.dtype


@pytest.mark.parametrize("array", [np.array(2.5, np.float32), np.zeros((0, 3), np.float32)])
def test_a_constant_without_axes_or_values(array):
    out = protobuf.port("out", "float32", array.shape)
    parts = [protobuf.text(5, protobuf.tensor("c", array)), node("Identity", ["c"], ["out"])]
    (got,), _ = run(parts, [], [out], {})
    np.testing.assert_array_equal(got, array)
    assert got.shape == array.shape


def test_a_big_endian_constant_is_written_little():
    array = np.array([1.5, -2.0], ">f4")
    assert protobuf.tensor("c", array).endswith(np.array([1.5, -2.0], "<f4").tobytes())


def test_a_constant_of_another_type_is_refused():
    with pytest.raises(KeyError, match="complex64"):
        protobuf.tensor("c", np.zeros(2, np.complex64))


def test_attributes_are_numbers_text_and_lists():
    x = protobuf.port("x", "float32", [1, 1, 3, 3])
    out = protobuf.port("out", "float32", [1, 1, 5, 4])
    values = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3) - 4
    pads = protobuf.text(5, protobuf.tensor("p", np.array([0, 0, 1, 0, 0, 0, 1, 1])))
    parts = [
        pads,
        node("LeakyRelu", ["x"], ["a"], alpha=0.5),
        node("Transpose", ["a"], ["b"], perm=[0, 1, 3, 2]),
        node("Pad", ["b", "p"], ["c"], mode="edge"),
        node("Softmax", ["c"], ["out"], axis=-1),
    ]
    (got,), _ = run(parts, [x], [out], {"x": values})
    wanted = np.where(values > 0, values, values / 2).transpose(0, 1, 3, 2)
    wanted = np.exp(np.pad(wanted, [(0, 0), (0, 0), (1, 1), (0, 1)], mode="edge"))
    assert got == pytest.approx(wanted / wanted.sum(-1, keepdims=True), rel=1e-5)


def test_an_operator_of_several_outputs():
    x = protobuf.port("x", "float32", [3])
    ports = [protobuf.port("v", "float32", [2]), protobuf.port("i", "int64", [2])]
    count = protobuf.text(5, protobuf.tensor("k", np.array([2], np.int64)))
    parts = [count, node("TopK", ["x", "k"], ["v", "i"])]
    values = np.array([1, 3, 2], np.float32)
    (largest, places), _ = run(parts, [x], ports, {"x": values})
    assert (largest.tolist(), places.tolist()) == ([3, 2], [1, 2])
