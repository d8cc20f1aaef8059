"""The wheel alone is the whole application; a worker's host needs no Qt."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Builds the wheel, installs it into two new environments, trains and classifies in both."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        wheel = _build(place)
        words = []
        for lock in ("packaging/requirements.lock", "resources/environments/worker.lock"):
            python = _environment(place / Path(lock).stem, ROOT / lock, wheel)
            accuracy, label = _train_and_classify(python, place)
            has_qt = _run(python, "-c", "import PySide6", check=False).returncode == 0
            qt = "with Qt" if has_qt else "without Qt"
            words.append(f"{lock} {qt}: test accuracy {accuracy:.3f}, trouser_01.png is {label}")
            if has_qt != lock.startswith("packaging/"):
                print(f"FAILED: {words[-1]}")
                return 1
        size = wheel.stat().st_size / 1e6
    print(f"wheel of {size:.1f} MB; " + "; ".join(words))
    return 0


def _build(place: Path) -> Path:
    words = ["-m", "build", "--wheel", "--outdir", str(place), str(ROOT)]
    _run(Path(sys.executable), *words)
    return next(place.glob("*.whl"))


def _environment(folder: Path, lock: Path, wheel: Path) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    _run(python, *pip, "--require-hashes", "-r", str(lock))
    _run(python, *pip, "--no-deps", str(wheel))
    return python


def _train_and_classify(python: Path, place: Path) -> tuple[float, str]:
    command = python.parent / "workbench"
    project, run = place / "p.workbench", place / f"run-{python.parents[1].name}"
    _run(command, "new", "fashion_convnet", str(project), "--force")
    lines = _run(
        command, "train", str(project), "--run", str(run), "--epochs", "1", "--json"
    ).stdout
    finished = json.loads(lines.splitlines()[-1])
    picture = str(ROOT / "resources" / "samples" / "trouser_01.png")
    answer = json.loads(_run(command, "classify", str(run), picture, "--json").stdout)
    return finished["test"]["accuracy"], answer["label"]


def _run(program: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "WORKBENCH_HOME": home, "PYTHONPATH": ""}
        result = subprocess.run(
            [str(program), *words],
            cwd=home,  # nothing of the checkout can be imported from here
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if check and result.returncode != 0:
        raise SystemExit(f"{program.name} {' '.join(words)} failed:\n{result.stderr}")
    return result


if __name__ == "__main__":
    sys.exit(main())
