"""Follows each advice beside "Where the time goes" by real trainings: epochs get shorter by it.

`python -m tests.proofs.time_advice` runs tests/worker/step/test_time_advice.py, which compares
measured times; on an idle computer. Ends with 1 when an advice is not given or does not help.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1] / "worker" / "step" / "test_time_advice.py"


def main() -> int:
    """Prints what pytest prints of them, with the seconds of each."""
    words = [sys.executable, "-m", "pytest", "-v", "--durations=0", "--durations-min=1", str(TESTS)]
    return subprocess.run(
        words, env={**os.environ, "WORKBENCH_TIMED_TESTS": "1"}, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
