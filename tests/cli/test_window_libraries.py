"""The window without a system library that Qt needs: words and an exit code, no abort."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.assets import resource_path
from workbench.window_libraries import LIST_NAME

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux libraries")

ROOT = Path(__file__).resolve().parents[2]


def _start(folder, **more):
    """Starts the window; the loader finds what is in `folder` first."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder), "DISPLAY": ":4711", **more}
    environment.pop("WAYLAND_DISPLAY", None)
    words = [sys.executable, "-m", "workbench"]
    return subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("platform", ["xcb", ""])
def test_missing_libraries_are_named_with_their_packages(tmp_path, platform):
    for name in ("libxcb-cursor.so.0", "libxcb-icccm.so.4"):
        (tmp_path / name).touch()  # nothing that could be loaded
    done = _start(tmp_path, QT_QPA_PLATFORM=platform)
    assert done.returncode == 4
    assert "sudo apt-get install -y libxcb-cursor0 libxcb-icccm4" in done.stderr
    assert "Where: libxcb-cursor.so.0, libxcb-icccm.so.4" in done.stderr
    assert not {"Abort", "Reinstalling", "qt.qpa", "Traceback"} & {*done.stderr.split()}


def test_the_setup_reads_the_same_list():
    lines = resource_path(LIST_NAME).read_text().splitlines()
    assert all(len(line.split()) == 2 for line in lines)
    assert "libxcb-cursor.so.0 libxcb-cursor0" in lines
    setup = (ROOT / "packaging" / "setup.sh").read_text()
    assert f"resources/{LIST_NAME}" in setup
    assert "libxcb-cursor0" not in setup
