"""The scripts of ready folders, called wrongly: a line on stderr and an exit code, no traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.worker.exporting.test_formats import FORMATS, exported

pytestmark = pytest.mark.worker

WITHOUT = """
import runpy, sys
sys.modules[sys.argv[1]] = None
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="module", params=["onnx", "tensorflowjs"])
def ready(request, colors, service, tmp_path_factory):
    """(the command that starts a script, its folder), with what `npm install` brings."""
    key = request.param
    folder = tmp_path_factory.mktemp(key) / "ready"
    exported(service, colors, key, folder, is_ready_folder=True)
    if key == "onnx":
        return [sys.executable, "-P", str(folder / "classify.py")], folder
    (folder / "node_modules").symlink_to(Path(sys.prefix) / "node" / "node_modules")
    return ["node", str(folder / "classify.mjs")], folder


def run(command, *arguments, **environment):
    done = subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert "    at " not in done.stderr
    return done


def test_without_images_a_script_shows_how_it_is_used(ready):
    done = run(ready[0])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: ")
    assert "IMAGE" in done.stderr


def test_a_file_that_is_no_image_is_named_and_the_others_are_classified(ready, photos, tmp_path):
    cut, text = tmp_path / "cut.png", tmp_path / "text.jpg"
    cut.write_bytes(Path(photos[0]).read_bytes()[:300])
    text.write_text("no image")
    wrong = [tmp_path / "missing.jpg", cut, text, tmp_path]
    done = run(ready[0], photos[0], *wrong, photos[1])
    assert done.returncode == 1
    labels = [line.split(": ")[0] for line in done.stdout.splitlines()]
    assert labels == photos[:2]
    lines = done.stderr.splitlines()
    assert len(lines) == len(wrong), done.stderr
    for path, line in zip(wrong, lines, strict=True):
        begin, _, reason = line.partition(": not a picture: ")
        assert (begin, bool(reason)) == (str(path), True)


def test_names_drive_no_terminal_and_any_terminal_takes_them(ready, photos, tmp_path):
    odd = tmp_path / f"花\n\x1b[2J\u202eb{Path(photos[0]).suffix}"
    shutil.copyfile(photos[0], odd)
    (gone := tmp_path / "gone\n\x1b[2J").write_text("no image")
    done = run(ready[0], odd, gone, PYTHONIOENCODING="ascii")
    assert (done.returncode, len(done.stdout.splitlines())) == (1, 1)
    assert len(done.stderr.splitlines()) == 1
    assert not set("\x1b\u202e") & set(done.stdout + done.stderr)


@pytest.mark.parametrize("ready", ["tensorflowjs"], indirect=True)
def test_node_needs_no_package(ready, photos, tmp_path):
    bare = shutil.copytree(ready[1], tmp_path / "bare", ignore=lambda *_: {"node_modules"})
    done = run(["node", str(bare / "classify.mjs")], photos[0])
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("key", ["onnx", "litert", "keras"])
def test_without_its_runtime_a_script_names_the_line_that_installs_it(
    key, colors, photos, service, tmp_path
):
    exported(service, colors, key, tmp_path / "ready", is_ready_folder=True)
    runtime, script = FORMATS[key].reader.runtime, str(tmp_path / "ready" / "classify.py")
    for missing in (runtime.name, "numpy", "PIL"):
        done = run([sys.executable, "-P", "-c", WITHOUT, missing, script], photos[0])
        assert (done.returncode, done.stdout) == (1, "")
        line = done.stderr.splitlines()[-1]  # behind those of TensorFlow
        assert missing in line
        assert line.endswith(f"; install it with: {runtime.setup}")
