"""The ready folder of a C header: its program in C, compiled by the line of its README."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from tests.worker.exporting.conftest import NAMES, SHAPE, colored
from tests.worker.exporting.test_formats import exported
from workbench.errors import InputError
from workbench.exports import c, missing_runtime, run_exports

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def folder(colors, service, tmp_path_factory):
    """A ready folder, with its program compiled."""
    folder = tmp_path_factory.mktemp("c") / "ready"
    proof = exported(service, colors, "c", folder, is_ready_folder=True)
    assert 0 < proof.peak_bytes < 30_000_000  # of the program, not of Python
    readme = (folder / "README.md").read_text("utf-8")
    (line,) = re.findall(r"^    (cc .*)$", readme, re.MULTILINE)
    strict = [*line.split(), "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    subprocess.run(strict, cwd=folder, check=True)
    return folder


def run(folder, *arguments, **more):
    command = [str(folder / "classify"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def test_images_get_the_labels_that_the_python_program_prints(folder, tmp_path):
    images, _ = colored(6, 5)
    paths = []
    for number, image in enumerate(images):
        paths += [tmp_path / f"{number}.ppm", tmp_path / f"{number}.bin"]
        Image.fromarray(image).save(paths[-2])
        paths[-1].write_bytes(image.tobytes())
    done = run(folder, *paths)
    assert done.returncode == 0, done.stderr
    rows = [line.split(": ")[1].split() for line in done.stdout.splitlines()]
    assert rows[::2] == rows[1::2]
    command = [sys.executable, str(folder / "classify.py"), *map(str, paths[::2])]
    python = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    labels = [line.split(": ")[1].split()[0] for line in python.splitlines()]
    assert [label for label, _ in rows[::2]] == labels
    assert set(labels) <= set(NAMES)


def test_an_image_of_another_size_is_refused(folder, tmp_path):
    small, cut = tmp_path / "small.ppm", tmp_path / "cut.bin"
    Image.fromarray(np.zeros((40, 50, 3), np.uint8)).save(small)
    cut.write_bytes(bytes(10))
    for path in (small, cut, tmp_path / "missing.ppm"):
        done = run(folder, path)
        assert done.returncode == 1
        assert done.stderr == f"{path}: no image of {SHAPE[1]} x {SHAPE[0]}\n"


def test_the_readme_has_the_bytes_of_flash_and_memory(folder):
    header, readme = ((folder / name).read_text("utf-8") for name in ("model.h", "README.md"))
    size = {key: int(n) for key, n in re.findall(r"#define MODEL_(\w+)_SIZE (\d+)\n", header)}
    assert f"{size['CONSTANTS']:,} bytes of constants" in readme
    assert f"{size['ARENA'] + 2 * size['PATCH']:,} bytes\nof memory" in readme
    tables = re.findall(r"^static const u?int(\d+)_t \w+\[(\d+)\]", header, re.MULTILINE)
    assert sum(int(bits) // 8 * int(count) for bits, count in tables) == size["CONSTANTS"]


def test_without_a_compiler_the_line_that_installs_one_is_named(monkeypatch):
    monkeypatch.setattr(c.shutil, "which", lambda _name: None)
    error = missing_runtime(run_exports()["c"])
    assert isinstance(error, InputError)
    assert "a C compiler" in error.what
    assert "apt install gcc libc6-dev" in error.fix
