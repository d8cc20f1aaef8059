"""Every kind of picture: the product against NumPy and tifffile, exported programs against it."""

from __future__ import annotations

import ast
import csv
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.pictures.kinds import cases
from tests.pictures.readers import facts_in, node_pixels, python_reader, ready_folder
from workbench.errors import PictureError
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.pictures.thumbnails import decode_picture, decode_reduced
from workbench.programs.reader import reader_imports, reader_source
from workbench.programs.texts import read

SHAPE = (24, 32, 3)
REFUSED = {"TIFF uint16, white is 0", "TIFF uint32"}
"""In the order of bytes that Pillow does not know for them."""

ODD = Path(__file__).resolve().parents[2].parent / "shared/data/odd_images"
EVERY = list(cases())
SOME = [case for number, case in enumerate(EVERY) if number % 5 == 0]


def product(path, value_range="", fit="crop"):
    """Fitted pixels, or why there are none."""
    try:
        decoded = decode_reduced(path, side_to_decode(SHAPE), value_range=value_range)
        return fit_picture(decoded.pixels, SHAPE, fit=fit)
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


NODE_KINDS = ("PNG", "JPEG")
NODE_REFUSES = {"JPEG CMYK, Adobe", *(f"JPEG 2000{more}" for more in (" lossless",))}


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize("fit", ["crop", "stretch", "pad"])
def test_classify_mjs_reads_as_the_product_or_refuses(fit, tmp_path):
    chosen = [case for case in SOME if case.kind.startswith(NODE_KINDS)]
    paths = []
    for number, case in enumerate(chosen):
        paths.append(tmp_path / f"{number}{case.suffix}")
        paths[-1].write_bytes(case.data)
    photos = PHOTOS if fit == "crop" else PHOTOS[:1]
    kinds = [case.kind for case in chosen] + ["photo"] * len(photos)
    for number, photo in enumerate(photos):
        paths.append(tmp_path / f"photo{number}.jpg")
        photo(paths[-1])
    told = [case.value_range for case in chosen] + [""] * len(photos)
    files = [(str(path), range_) for path, range_ in zip(paths, told, strict=True)]
    found = node_pixels(tmp_path / "reader", files, fit=fit)
    for kind, path, value_range, theirs in zip(kinds, paths, told, found, strict=True):
        if isinstance(theirs, str):
            assert kind in NODE_REFUSES, (kind, theirs)
            continue
        assert kind not in NODE_REFUSES
        ours = product(path, value_range, fit)
        assert gap(ours, theirs) <= 1, kind


def large(width, height, **options):
    """Writes a photo that is decoded at 1/2, 1/4 or 1/8."""

    def write(path):
        random = np.random.default_rng(width)
        coarse = random.integers(0, 256, (height // 40, width // 40, 3), np.uint8)
        image = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
        image.save(path, quality=88, **options)

    return write


PHOTOS = [
    large(700, 650, subsampling=1),
    large(1410, 1303, subsampling=2),
    large(2601, 2570, progressive=True, subsampling=1),
    large(5203, 5140, subsampling=2),
]


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
    plain = read("script.py")
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
