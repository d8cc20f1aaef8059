"""Process start to the first window on the screen, its memory, and no TensorFlow in it."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.virtual_screen import virtual_screen

ROUNDS = 5


def main() -> None:
    """Starts the real application under Xvfb a few times."""
    if "DISPLAY" not in os.environ or os.environ.get("QT_QPA_PLATFORM") == "offscreen":
        environment = {**os.environ, "QT_QPA_PLATFORM": "xcb"}
        command = [*virtual_screen(), sys.executable, "-m", "tests.benchmarks.start"]
        raise SystemExit(subprocess.run(command, env=environment, check=False).returncode)
    seconds, megabytes, has_tensorflow = zip(*(_start_once() for _ in range(ROUNDS)), strict=True)
    print(f"first window shown: median {statistics.median(seconds):.2f} s of {ROUNDS} (goal 1.0 s)")
    print(f"resident memory then: {statistics.median(megabytes):.0f} MB (goal 170 MB)")
    print(f"TensorFlow in the process: {'yes' if any(has_tensorflow) else 'no'}")


def _start_once() -> tuple[float, float, bool]:
    home = tempfile.mkdtemp()
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench"], env={**os.environ, "WORKBENCH_HOME": home}
    )
    try:
        while not _is_window_shown(process.pid):
            if process.poll() is not None or time.monotonic() - began > 30:
                raise SystemExit("The window did not open.")
            time.sleep(0.01)
        shown = time.monotonic() - began
        time.sleep(1.0)
        status = Path(f"/proc/{process.pid}/status").read_text()
        resident_kb = next(int(x.split()[1]) for x in status.splitlines() if x.startswith("VmRSS"))
        maps = Path(f"/proc/{process.pid}/maps").read_text()
        return shown, resident_kb / 1000, "tensorflow" in maps
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(home, ignore_errors=True)


def _is_window_shown(pid: int) -> bool:
    words = ["xdotool", "search", "--onlyvisible", "--pid", str(pid), "--name", "Workbench"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    main()
