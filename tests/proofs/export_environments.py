"""The program of each ready folder in a fresh environment, with only what its README installs.

`bash packaging/prove.sh export_environments [--run RUN] [--formats KEY ...] [--images FILE ...]`

A run (by default the Fashion-MNIST template, trained for half a minute) is exported in each format.
A new virtual environment of Python runs the line of the README that installs the runtime, then the
program on the images (by default those that come with Workbench), without any variable that leads
to Workbench or to the environment of this process. The labels must be those of `workbench classify`,
and the probabilities near them: to 1e-3 in float32, 0.1 in fewer bits. Environments are shared by
formats with the same line. Ends with 1 where a label differs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks._runs import own_home
from tests.proofs.coach import SHARED, local_project, train
from workbench.assets import resource_path
from workbench.core.specs import ExportSpec
from workbench.exports import run_exports

TEMPLATE, MINUTES = "fashion_convnet", 0.5
NEAR = {True: 1e-3, False: 0.1}
"""By whether the format has the network's own numbers."""

KEPT = ("HOME", "LANG", "TMPDIR", "SSL_CERT_FILE", "PIP_", "NPM_", "npm_", "http", "HTTP", "no_")
"""Beginnings of the variables that installing needs."""


@dataclass(frozen=True)
class Label:
    """The most probable class of an image."""

    name: str
    probability: float


def main() -> int:
    """Prints a line for each format; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path)
    readable = [key for key, spec in run_exports().items() if spec.reader is not None]
    parser.add_argument("--formats", nargs="+", choices=readable, default=readable)
    samples = sorted(resource_path("samples").glob("*.png"))
    parser.add_argument("--images", nargs="+", type=Path, default=samples)
    options = parser.parse_args()
    home, failed = own_home(), []
    run = options.run or train(local_project(TEMPLATE, SHARED), MINUTES).path
    images = [str(path.absolute()) for path in options.images]
    expected = _classified(run, images)
    print(f"{run.name}: {', '.join(label.name for label in expected)}", flush=True)
    with tempfile.TemporaryDirectory() as place:
        for key in options.formats:
            words, is_right = _try(run_exports()[key], run, images, expected, Path(place))
            print(f"{key}: {words}", flush=True)
            failed += [] if is_right else [key]
    shutil.rmtree(home, ignore_errors=True)
    print(
        f"export_environments: {len(options.formats)} formats, {len(images)} images, "
        f"{len(failed)} with other labels" + (f": {', '.join(failed)}" if failed else "")
    )
    return 1 if failed else 0


def _classified(run: Path, images: Sequence[str]) -> list[Label]:
    command = [sys.executable, "-m", "workbench", "classify", str(run), *images, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    best = [row["scores"][0] for row in rows]
    return [Label(each["class"], each["probability"]) for each in best]


def _try(
    spec: ExportSpec, run: Path, images: Sequence[str], expected: Sequence[Label], place: Path
) -> tuple[str, bool]:
    """What the program of a format answers, in words, and whether it is right."""
    assert spec.reader is not None
    folder, runtime, is_exact = place / spec.key, spec.reader.runtime, spec.reader.is_exact
    command = [sys.executable, "-m", "workbench", "export", str(run), spec.key, str(folder)]
    subprocess.run([*command, "--folder"], capture_output=True, check=True)
    began = time.monotonic()
    environment, is_new = _environment(place, runtime.setup)
    _run(runtime.setup, folder, environment)
    installed = time.monotonic() - began
    files = " ".join(f"'{path}'" for path in images)
    out = _run(f"{runtime.start} {runtime.script} {files}", folder, environment)
    found = [_label(line, path) for line, path in zip(out.splitlines(), images, strict=True)]
    apart = max(abs(a.probability - b.probability) for a, b in zip(found, expected, strict=True))
    same = sum(a.name == b.name for a, b in zip(found, expected, strict=True))
    words = (
        f"{same} of {len(images)} labels the same, probabilities differ by at most {apart:.1e}; "
        f"`{runtime.setup}` "
        + (f"in a new environment took {installed:.0f} s" if is_new else "was there")
    )
    return words, same == len(images) and apart <= NEAR[is_exact]


def _label(line: str, path: str) -> Label:
    """From "FILE: label 0.1234", or "FILE: unknown (label) 0.1234"."""
    name, _, probability = line.removeprefix(f"{path}: ").rpartition(" ")
    if name.startswith("unknown ("):
        name = name.removeprefix("unknown (").removesuffix(")")
    return Label(name, float(probability))


def _environment(place: Path, setup: str) -> tuple[dict[str, str], bool]:
    """The variables of an environment that has what a line installs, and whether it is new."""
    folder = place / f"venv{abs(hash(setup)):x}"
    is_new = not folder.is_dir()
    if is_new:
        venv.create(folder, with_pip=True)
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    beside = Path(sys.executable).parent
    path = [part for part in os.environ["PATH"].split(os.pathsep) if Path(part) != beside]
    return kept | {"PATH": os.pathsep.join([str(folder / "bin"), *path])}, is_new


def _run(line: str, folder: Path, environment: dict[str, str]) -> str:
    """Runs a line in a folder; returns what it prints."""
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{line}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
