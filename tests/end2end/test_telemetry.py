"""No library of ours sends anything or leaves files: small version of `prove.sh telemetry`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.bright_network import GRAPH, bright_picture, keep_bright_network
from tests.traced import Sandbox, can_trace
from workbench.core.projects.project import Project
from workbench.runs.folder import create_run

TOP = Path(__file__).resolve().parents[2]
FIRST_WITH_CLIENT = (1, 29)
"""Of ONNX Runtime, on Linux; found with strace, see tests/proofs/RESULTS.md."""

needs_strace = pytest.mark.skipif(not can_trace(), reason="not installed: strace")

RECORDER = """
import os, pathlib
pathlib.Path(os.environ["RECORD"]).write_text(os.environ.get("ORT_DISABLE_TELEMETRY", "not set"))
raise RuntimeError("recorded")
"""
"""An ONNX Runtime that writes down how it was imported."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A sandbox with a run, a picture and the ready folder of its ONNX export."""
    sandbox = Sandbox(tmp_path_factory.mktemp("telemetry"))
    run = create_run(Project(graph=GRAPH), path=sandbox.work / "run")
    keep_bright_network(run)
    bright_picture(sandbox.work)
    subprocess.run(
        [sys.executable, "-m", "workbench", "export", "run", "onnx", "folder", "--folder"],
        cwd=sandbox.work, env=sandbox.environment(PYTHONPATH=str(TOP)), check=True,
        capture_output=True,
    )  # fmt: skip
    return sandbox


WORDS = {
    "command": ("-m", "workbench", "classify", "run", "picture.png"),
    "exported": ("folder/classify.py", "picture.png"),
}


@pytest.mark.worker
@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("given", [None, "0"])
def test_it_is_switched_off_before_onnx_runtime_is_imported(made, tmp_path, kind, given):
    (tmp_path / "onnxruntime.py").write_text(RECORDER)
    record = tmp_path / "record"
    environment = made.environment(PYTHONPATH=str(tmp_path), RECORD=str(record))
    if given is not None:
        environment["ORT_DISABLE_TELEMETRY"] = given
    command = [sys.executable, *WORDS[kind]]
    subprocess.run(command, cwd=made.work, env=environment, capture_output=True, check=False)
    assert record.read_text() == "1"


@pytest.mark.parametrize(
    "module", ["workbench.app", "workbench.worker", "workbench.remote", "workbench.printing"]
)
def test_each_process_of_ours_switches_it_off_and_hands_that_on(module):
    code = f"import os, {module}; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    environment = {**os.environ, "PYTHONPATH": str(TOP), "ORT_DISABLE_TELEMETRY": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "1"


def test_no_version_with_the_client_is_installed_by_us():
    project = tomllib.loads((TOP / "pyproject.toml").read_text())
    (line,) = project["project"]["optional-dependencies"]["classify"]
    assert line.endswith("<{}.{}".format(*FIRST_WITH_CLIENT))
    locks = [*TOP.glob("packaging/*.lock"), *TOP.glob("resources/environments/*.lock")]
    found = [each for lock in locks for each in _versions(lock.read_text())]
    assert len(found) == 3
    assert max(found) < FIRST_WITH_CLIENT


def _versions(text):
    return [
        tuple(map(int, one))
        for one in re.findall(r"^onnxruntime==(\d+)\.(\d+)", text, re.MULTILINE)
    ]


@needs_strace
@pytest.mark.worker
@pytest.mark.parametrize("kind", WORDS)
def test_nothing_is_sent_and_no_file_made_outside(made, kind):
    words = [word for word in WORDS[kind] if word != "-m"]
    trace = made.traced(10, *words)
    assert trace.code == 0, trace.said
    assert trace.num_calls > 50
    assert (trace.sent, trace.made) == ((), ())


@needs_strace
def test_the_trace_would_show_it(made_simple):
    sandbox, script = made_simple
    trace = sandbox.traced(0, str(script))
    assert trace.code == 0, trace.said
    assert len(trace.sent) == 2
    left = {Path(each).relative_to(sandbox.root) for each in trace.made}
    assert left == {Path("tmp/.ses"), Path("home/.cache"), Path("home/device"), Path("home/new")}


@pytest.fixture
def made_simple(tmp_path):
    sandbox = Sandbox(tmp_path / "sandbox")
    script = tmp_path / "talks.py"
    script.write_text(
        "import os, pathlib, socket\n"
        "with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:\n"
        "    line.sendto(b'who', ('127.0.0.1', 5399))\n"
        "    line.connect(('127.0.0.1', 5399))\n"
        "tmp, home = (pathlib.Path(os.environ[name]) for name in ('TMPDIR', 'HOME'))\n"
        "(tmp / '.ses').write_text('id')\n"
        "(home / '.cache').mkdir()\n"
        "folder = os.open(home, os.O_RDONLY)\n"
        "os.close(os.open('device', os.O_WRONLY | os.O_CREAT, dir_fd=folder))\n"
        "pathlib.Path('inside').write_text('x')\n"
        "os.rename('inside', home / 'new')\n"
    )
    return sandbox, script
