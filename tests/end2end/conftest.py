"""Runs a user's script on a screen and in a home of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def at_screen(tmp_path_factory):
    """A function (module, *words) -> what the script has seen.

    Its screen has `screen` pixels; `scale` is that of the window.
    """
    missing = [name for name in ("xvfb-run", "xdotool") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")

    def run(
        module: str, *words: str, screen: str = "1440x900", scale: str = "1"
    ) -> dict[str, object]:
        home = tmp_path_factory.mktemp("home")
        at_screen = ("xvfb-run", "-a", "-s", f"-screen 0 {screen}x24")
        result = subprocess.run(
            [*at_screen, sys.executable, "-m", f"tests.end2end.{module}", *words],
            cwd=ROOT,
            env={
                **os.environ,
                "QT_QPA_PLATFORM": "xcb",
                "QT_SCALE_FACTOR": scale,
                "WORKBENCH_HOME": str(home),
                "XDG_DATA_HOME": str(home / "share"),  # the trash
            },
            capture_output=True,
            text=True,
            timeout=540,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout.splitlines()[-1])

    return run
