"""Drags, connects, trains, drops a picture, reads the label: the real thing, all of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What a first user saw, on a screen and in a home of its own."""
    missing = [name for name in ("xvfb-run", "xdotool") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    home = tmp_path_factory.mktemp("home")
    picture = ROOT / "resources" / "samples" / "trouser_01.png"
    result = subprocess.run(
        [
            *("xvfb-run", "-a", "-s", "-screen 0 1440x900x24"),
            *(sys.executable, "-m", "tests.end2end.first_picture", str(picture)),
        ],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "xcb", "WORKBENCH_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=540,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def test_layers_were_dragged_and_connected(seen):
    assert seen["kinds"] == ["input", "conv2d", "flatten", "dense"]
    assert seen["was_connected_by_hand"] is True
    assert seen["problems"] == []
    assert seen["parameters"] == 320 + 216_330


def test_training_was_real(seen):
    assert seen["steps"] == 300
    assert seen["val_accuracy"] > 0.5


def test_the_dropped_picture_got_its_name(seen):
    assert seen["label"] == "Trouser"


def test_the_window_never_loaded_tensorflow(seen):
    assert seen["has_tensorflow"] is False
