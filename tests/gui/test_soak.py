"""A small version of `tests.proofs.soak`: many events, followed by the real window."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]


def test_the_window_follows_many_events_without_losing_one_or_hoarding_memory():
    command = [sys.executable, "-m", "tests.proofs.soak", "--events", "25000", "--no-gaps"]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stdout, done.stderr
    result = json.loads(done.stdout[done.stdout.index("{") :])
    assert result["missed"] == []
    assert (result["points"], result["wrong_points"]) == (25_000, 0)
    assert done.returncode == 0
