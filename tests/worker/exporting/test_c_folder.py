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


def test_what_is_no_image_of_its_size_is_named_and_the_others_are_classified(folder, tmp_path):
    height, width, channels = SHAPE
    pixels = np.full(SHAPE, 90, np.uint8)
    right, small, photo = tmp_path / "right.ppm", tmp_path / "small.ppm", tmp_path / "photo.jpg"
    gray, cut, more = tmp_path / "gray.pgm", tmp_path / "cut.ppm", tmp_path / "more.bin"
    Image.fromarray(pixels).save(right)
    Image.fromarray(np.zeros((40, 50, 3), np.uint8)).save(small)
    Image.fromarray(np.zeros((40, 50, 3), np.uint8)).save(photo)
    Image.fromarray(pixels[..., 0]).save(gray)
    cut.write_bytes(right.read_bytes()[:-1])
    more.write_bytes(bytes(pixels.size + 1))
    wrong, missing = [small, photo, gray, cut, more, tmp_path], tmp_path / "missing.ppm"
    done = run(folder, *wrong, missing, right)
    assert done.returncode == 1
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"{right}: ")
    reason = f"not a picture: no PPM, PGM or raw numbers of {width} x {height} x {channels}"
    lines = [f"{path}: {reason}" for path in wrong]
    assert done.stderr.splitlines() == [
        *lines,
        f"{missing}: not a picture: No such file or directory",
    ]


def test_a_comment_in_the_header_of_an_image_is_passed_over(folder, tmp_path):
    plain, commented = tmp_path / "plain.ppm", tmp_path / "commented.ppm"
    Image.fromarray(colored(1, 5)[0][0]).save(plain)
    commented.write_bytes(plain.read_bytes().replace(b"P6\n", b"P6\n# of a program\n", 1))
    done = run(folder, plain, commented)
    assert done.returncode == 0, done.stderr
    first, second = (line.split(": ")[1] for line in done.stdout.splitlines())
    assert first == second


def test_without_images_it_shows_how_it_is_used(folder):
    done = run(folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"usage: {folder / 'classify'} IMAGE...\n"


def test_without_a_compiler_the_script_names_the_line_that_installs_one(folder, photos):
    command = [sys.executable, str(folder / "classify.py"), photos[0]]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": ""}, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "A C compiler is needed: apt install gcc libc6-dev\n"


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
    assert "sudo apt-get install -y gcc libc6-dev" in error.fix
