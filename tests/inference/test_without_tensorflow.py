"""`workbench classify` does not start TensorFlow: the real command, seen from outside."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from tests.bright_network import GRAPH, bright_picture, keep_bright_network
from workbench.core.projects.project import Project
from workbench.errors import PictureError
from workbench.inference.onnx_runner import LocalCall
from workbench.protocol.classify import (
    ClassifiedRows,
    ClassifyMany,
    ImageSource,
    ManyClassified,
)
from workbench.protocol.messages import Failed
from workbench.protocol.wire import error_from_parts
from workbench.runs.folder import create_run

pytestmark = pytest.mark.worker

COMMAND = [sys.executable, "-m", "workbench", "classify"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = create_run(Project(graph=GRAPH), home=tmp_path_factory.mktemp("bright"))
    keep_bright_network(folder)
    return str(folder.path)


def test_only_onnx_runtime_is_opened_and_no_process_started(run, tmp_path):
    if shutil.which("strace") is None:
        pytest.skip("not installed: strace")
    log = tmp_path / "trace"
    trace = ["strace", "-f", "-e", "trace=openat,execve,connect", "-o", str(log)]
    command = [*trace, *COMMAND, run, bright_picture(tmp_path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["label"] == "light"
    lines = log.read_text(errors="replace").splitlines()
    assert any("onnxruntime_pybind11_state" in line for line in lines), "the trace sees libraries"
    opened = [line for line in lines if "openat(" in line and "ENOENT" not in line]
    assert not [
        line for line in opened if "-packages/tensorflow" in line or "-packages/keras" in line
    ]
    assert len([line for line in lines if "execve(" in line and line.endswith("= 0")]) == 1
    assert not [line for line in lines if "connect(" in line and "AF_INET" in line]


def test_the_command_classifies_where_tensorflow_cannot_be_imported(run, tmp_path):
    blocked = "import sys; sys.modules.update(tensorflow=None, keras=None, PySide6=None)\n"
    code = f"{blocked}from workbench.cli import main\nraise SystemExit(main(sys.argv[1:]))"
    words = ["classify", run, bright_picture(tmp_path), "--json"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["label"] == "light"


def test_ctrl_c_ends_the_command_with_an_unfinished_table(run, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    pixels = np.random.default_rng(1).integers(0, 255, (900, 900, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "0.png")
    for number in range(1, 600):
        (folder / f"{number}.png").hardlink_to(folder / "0.png")
    table = tmp_path / "t.csv"
    process = subprocess.Popen(
        [*COMMAND, run, str(folder), "--csv", str(table)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command continues it" in errors
    again = subprocess.run(
        [*COMMAND, run, str(folder), "--csv", str(table)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "600 images classified" in again.stderr + again.stdout
    assert len(table.read_text().splitlines()) == 601


# in this process -------------------------------------------------------------------------


def request(*paths) -> ClassifyMany:
    return ClassifyMany(id=3, model="", sources=[ImageSource(path=str(path)) for path in paths])


def test_the_answers_come_in_order_and_end(run, tmp_path):
    with LocalCall(run) as call:
        answers = list(call.answers(request(bright_picture(tmp_path), tmp_path / "none.png")))
    rows = [row for each in answers if isinstance(each, ClassifiedRows) for row in each.rows]
    assert [row.label for row in rows] == ["light", ""]
    assert isinstance(answers[-1], ManyClassified)
    assert (answers[-1].num_images, answers[-1].num_bad) == (2, 1)


def test_an_error_is_the_last_answer(run, tmp_path):
    (tmp_path / "empty").mkdir()
    with LocalCall(run) as call:
        *_, last = call.answers(request(tmp_path / "empty"))
    assert isinstance(last, Failed)
    assert isinstance(error_from_parts(last.error), PictureError)


def test_a_caller_that_goes_away_cancels(run, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    Path(bright_picture(folder)).rename(folder / "0.png")
    for number in range(1, 20_000):
        (folder / f"{number}.png").hardlink_to(folder / "0.png")
    table = tmp_path / "t.csv"
    with LocalCall(run) as call:
        answers = call.answers(msgspec.structs.replace(request(folder), table=str(table)))
        while not isinstance(next(answers), ClassifiedRows):
            pass
        answers.close()
    assert 32 <= len(table.read_text().splitlines()) < 10_000, "the rest was not classified"
