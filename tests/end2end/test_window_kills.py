"""A few kills of the real window while a run trains; the proof of that name does many."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.full, pytest.mark.end2end, pytest.mark.timeout(600)]


def test_no_point_of_the_curve_is_lost_or_doubled():
    if shutil.which("xvfb-run") is None:
        pytest.skip("not installed: xvfb-run")
    environment = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    result = subprocess.run(
        [sys.executable, "-m", "tests.proofs.window_kills", "--kills", "2"],
        cwd=ROOT,
        env={**environment, "QT_QPA_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        timeout=540,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.startswith("window_kills: 2 kills")
