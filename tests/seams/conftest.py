"""A copy of the program to which a test adds one file, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

ONE_WORKER = """
import json
import sys
from contextlib import nullcontext

from workbench.cli import _service, main
from workbench.protocol.service_call import ServiceCall

with ServiceCall() as call:
    _service.ServiceCall = lambda: nullcontext(call)
    for words in json.load(sys.stdin):
        assert main(words) == 0, words
"""


class Tree:
    """A copy of `workbench/` and `resources/` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("workbench", "resources"):  # with what is compiled: it stays valid
            shutil.copytree(ROOT / name, folder / name)

    def add(self, path: str, text: str) -> None:
        """Adds one file, "workbench/layers/gaussian_dropout.py"; there must be none yet."""
        file = self.folder / path
        assert not file.exists(), f"{path} is no new file"
        assert file.parent.is_dir(), f"{path} needs a folder that is not there"
        file.write_text(text)

    def python(self, *arguments: str, **keywords) -> subprocess.CompletedProcess[str]:
        """Runs Python with this copy of the program, its output as text."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        return subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            **keywords,
        )

    def with_one_worker(self, *commands: tuple[str, ...]) -> None:
        """Runs commands of the command line in one process, with one service worker for all;
        fails the test unless each ends with 0.
        """
        done = self.python("-c", ONE_WORKER, input=json.dumps(commands))
        assert done.returncode == 0, done.stdout + done.stderr

    def workbench(self, *arguments: str) -> str:
        """Runs a command of the command line; fails the test unless it ends with 0."""
        result = self.python("-m", "workbench", *arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout


@pytest.fixture
def tree(tmp_path):
    """A copy of the program."""
    return Tree(tmp_path / "copy")


@pytest.fixture(scope="module")
def module_tree(tmp_path_factory):
    """A copy of the program for all tests of a module, with a home of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        yield Tree(tmp_path_factory.mktemp("tree") / "copy")
