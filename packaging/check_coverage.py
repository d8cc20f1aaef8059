"""Prints how many statements the tests run, and fails when a file that must be complete is not.

    python packaging/check_coverage.py    (after packaging/lanes.py, which measures)

Measured is the process of pytest; what trainers and workers run in processes of their own is
not, so the figure of workbench/worker is lower than what its tests really run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

COMPLETE = ("core", "curves", "document", "layers", "protocol")
"""Packages of `workbench` all of whose files are kept at 100%."""


def main() -> int:
    """Prints one line per package, the files with gaps, and the figure of all."""
    report = _measured()
    files = {Path(name): values for name, values in report["files"].items()}
    for package in sorted({path.parts[1] for path in files if len(path.parts) > 2}):
        inside = [v["summary"] for path, v in files.items() if path.parts[1] == package]
        run = sum(summary["covered_lines"] for summary in inside)
        total = sum(summary["num_statements"] for summary in inside)
        note = "  kept at 100%" if package in COMPLETE else ""
        print(f"{run / max(total, 1):7.1%}  workbench/{package}{note}")
    gaps = {
        path: values["missing_lines"]
        for path, values in files.items()
        if path.parts[1] in COMPLETE and values["missing_lines"]
    }
    for path, lines in sorted(gaps.items()):
        print(f"{path}: no test runs lines {', '.join(map(str, lines))}")
    num_complete = sum(path.parts[1] in COMPLETE for path in files) - len(gaps)
    print(
        f"{report['totals']['percent_covered']:.1f} % of the statements;"
        f" {num_complete} files complete, {len(gaps)} that must be are not"
    )
    return int(bool(gaps))


def _measured() -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.json"
        command = [sys.executable, "-m", "coverage", "json", "--quiet", "-o", str(path)]
        subprocess.run(command, check=True)
        return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
