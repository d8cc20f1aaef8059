"""Every kind of picture: the product against NumPy and tifffile, exported programs against it."""

from __future__ import annotations

import ast
import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.pictures.kinds import cases
from tests.pictures.readers import facts_in, python_reader, ready_folder
from workbench.errors import PictureError
from workbench.pictures.decode import decode_picture, decode_reduced
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.programs.reader import reader_imports, reader_source
from workbench.programs.texts import read

SHAPE = (24, 32, 3)
REFUSED = {"TIFF uint16, white is 0", "TIFF uint32"}
"""In the order of bytes that Pillow does not know for them."""

ODD = Path(__file__).resolve().parents[2].parent / "shared/data/odd_images"
EVERY = list(cases())
SOME = [case for number, case in enumerate(EVERY) if number % 5 == 0]


def product(path, value_range=""):
    """Fitted pixels, or why there are none."""
    try:
        decoded = decode_reduced(path, side_to_decode(SHAPE), value_range=value_range)
        return fit_picture(decoded.pixels, SHAPE, fit="crop")
    except PictureError as error:
        return error.what


def program(reader, path):
    try:
        return reader(path)
    except ValueError as error:
        return error.what


def gap(one, other):
    return int(np.abs(one.astype(int) - other).max())


def test_each_kind_has_the_pixels_that_were_stored(tmp_path):
    wrong, right, refused = [], Counter(), Counter()
    for number, case in enumerate(EVERY):
        path = tmp_path / f"{number}{case.suffix}"
        path.write_bytes(case.data)
        try:
            pixels = decode_picture(path, value_range=case.value_range)
        except PictureError:
            refused[case.kind] += 1
            continue
        right[case.kind] += 1
        if pixels.shape != case.expected.shape or gap(pixels, case.expected) > 1:
            wrong.append((case.kind, pixels.shape, case.expected.shape))
    assert wrong == []
    assert set(refused) == REFUSED
    assert len(right) >= 80
    assert min(right.values()) >= 6


def test_classify_py_reads_every_kind_as_the_product_does(tmp_path):
    readers = {}
    for number, case in enumerate(SOME):
        path = tmp_path / f"{number}{case.suffix}"
        path.write_bytes(case.data)
        told = case.value_range
        if told not in readers:
            readers[told] = python_reader(tmp_path / f"reader{len(readers)}", value_range=told)
        ours, theirs = product(path, told), program(readers[told], path)
        assert type(ours) is type(theirs), case.kind
        assert np.array_equal(ours, theirs), case.kind


@pytest.mark.skipif(not ODD.is_dir(), reason="the shared data folder is not beside this checkout")
def test_classify_py_reads_odd_pictures_as_the_product_does(tmp_path):
    reader = python_reader(tmp_path / "reader")
    rows = list(csv.DictReader((ODD / "manifest.csv").read_text("utf-8").splitlines()))
    for row in rows:
        path = ODD / row["file"]
        assert np.array_equal(product(path), program(reader, path)), row["file"]


@pytest.mark.parametrize("fit", ["crop", "stretch", "pad"])
@pytest.mark.parametrize("channels", [1, 3])
def test_classify_py_fits_as_the_product_does(fit, channels, tmp_path):
    shape = (*SHAPE[:2], channels)
    reader = python_reader(tmp_path / "reader", shape=shape, fit=fit)
    for number, case in enumerate(EVERY[:60]):
        path = tmp_path / f"{number}{case.suffix}"
        path.write_bytes(case.data)
        pixels = fit_picture(decode_reduced(path, side_to_decode(shape)).pixels, shape, fit=fit)
        assert np.array_equal(pixels, reader(path)), case.kind


def test_what_cannot_be_opened_is_refused_in_the_same_words(tmp_path):
    reader = python_reader(tmp_path / "reader")
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "text.png").write_bytes(b"no image")
    for path in (tmp_path, tmp_path / "empty.png", tmp_path / "text.png", tmp_path / "none.png"):
        assert isinstance(product(path), str)
        assert product(path) == program(reader, path)


def test_every_python_program_has_the_same_source(tmp_path):
    """No name of a program hides one of the rules; all that they import is there."""
    folder = ready_folder(tmp_path, "onnx", shape=SHAPE, fit="pad", value_range="0-4095")
    script = (folder / "classify.py").read_text()
    assert reader_source() in script
    assert (facts_in(folder)["value_range"], facts_in(folder)["fit"]) == ("0-4095", "pad")
    rules = names_of(reader_source())
    assert max(Counter(rules).values()) == 1
    assert max(Counter(names_of(script)).values()) == 1
    plain = read("script.py.txt")
    assert "$image_reader" in plain
    for line in reader_imports():
        assert f"{line}\n" in plain, line
    defined = {line.split("(")[0][4:] for line in plain.splitlines() if line.startswith("def ")}
    assert not defined & set(rules)


def names_of(text):
    """What a module defines at its top, but for conditions."""
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return found
