"""Runs a user's script on a screen and in a home of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.virtual_screen import virtual_screen

ROOT = Path(__file__).resolve().parents[2]

_OFFLINE = ("unshare", "--map-root-user", "--net")
"""In a network namespace of its own (Linux): nothing can be reached from there."""


@pytest.fixture(scope="session")
def at_screen(tmp_path_factory):
    """A function (module, *words) -> what the script has seen.

    Its screen has `screen` pixels; `scale` is that of the window. Where it `is_offline` it has
    no network device but its own.
    """
    missing = [name for name in ("xvfb-run", "xdotool") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")

    def run(
        module: str,
        *words: str,
        screen: str = "1440x900",
        scale: str = "1",
        is_offline: bool = False,
    ) -> dict[str, object]:
        if is_offline and subprocess.run([*_OFFLINE, "true"], check=False).returncode:
            pytest.skip("this computer allows no network namespace")
        home = tmp_path_factory.mktemp("home")
        alone = _OFFLINE if is_offline else ()
        result = subprocess.run(
            [
                *alone,
                *virtual_screen(screen),
                sys.executable,
                "-m",
                f"tests.end2end.{module}",
                *words,
            ],
            cwd=ROOT,
            env={
                **os.environ,
                "QT_QPA_PLATFORM": "xcb",
                "QT_SCALE_FACTOR": scale,
                "WORKBENCH_HOME": str(home),
                "KERAS_HOME": str(home / "keras"),
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
