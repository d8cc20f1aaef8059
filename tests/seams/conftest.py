"""A copy of the program to which a test adds one file, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Tree:
    """A copy of `workbench/` and `resources/` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("workbench", "resources"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)

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

    def workbench(self, *arguments: str) -> str:
        """Runs a command of the command line; fails the test unless it ends with 0."""
        result = self.python("-m", "workbench", *arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout


@pytest.fixture
def tree(tmp_path):
    """A copy of the program."""
    return Tree(tmp_path / "copy")
