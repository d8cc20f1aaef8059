"""The part `classify` alone, installed by pip, classifies a trained run; how much it takes."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections import Counter
from pathlib import Path

from workbench.assets import sample_paths
from workbench.parts import TRAIN, WINDOW

ROOT = Path(__file__).resolve().parents[2]
GOAL_MB = 150
MISSING = {
    TRAIN: (("train", "p.workbench"), ("explain", "run", "picture.png", "e.png"), ("tour",)),
    WINDOW: ((), ("report", "run", "r.pdf")),
}
"""Commands that need another part."""


def main() -> int:
    """Trains here, classifies there, and compares; prints the sizes of the largest packages."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        run(place, Path(sys.executable), "-m", "build", "--wheel", "--outdir", name, str(ROOT))
        (wheel,) = place.glob("*.whl")
        python = install(place, f"{wheel}[classify]")
        command, here = python.with_name("workbench"), (sys.executable, "-m", "workbench")
        train(place, here)
        faults = [*unwanted(place, python), *unnamed(place, command)]
        pictures = [str(path) for path in sample_paths()]
        labels = answers(run(place, command, "classify", "run", *pictures, "--json"))
        words = ("-m", "workbench", "classify", "run", *pictures, "--json")
        if labels != answers(run(place, Path(sys.executable), *words, source=True)):
            faults.append("other labels than where all is installed")
        right = sum(
            is_right(picture, label) for picture, label in zip(pictures, labels, strict=True)
        )
        print(f"{right} of {len(labels)} bundled pictures classified correctly; {sizes(python)}")
    for fault in faults:
        print(f"FAILED: {fault}")
    return int(bool(faults))


def install(place: Path, requirement: str) -> Path:
    """The Python of a new environment with this alone."""
    venv.create(place / "python", with_pip=True)
    python = place / "python" / "bin" / "python"
    words = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement)
    run(place, python, *words)
    return python


def train(place: Path, workbench: tuple[str, ...]) -> None:
    """Makes p.workbench and its trained run, by the sources."""
    program, *words = workbench
    run(place, Path(program), *words, "new", "fashion_convnet", "p.workbench", source=True)
    own = ("train", "p.workbench", "--run", "run", "--epochs", "1", "--json")
    run(place, Path(program), *words, *own, source=True)
    (place / "picture.png").write_bytes(sample_paths()[0].read_bytes())


def unwanted(place: Path, python: Path) -> list[str]:
    """Packages of other parts that were installed all the same."""
    listed = json.loads(run(place, python, "-m", "pip", "list", "--format", "json"))
    names = {package["name"].lower() for package in listed}
    others = {name.lower() for part in MISSING for name in part.packages}
    return [f"{name} is installed" for name in sorted(names & others)]


def unnamed(place: Path, command: Path) -> list[str]:
    """Commands that do not name the part that they need."""
    found = []
    for part, commands in MISSING.items():
        for words in commands:
            done = result(place, command, *words)
            if done.returncode != 4 or not all(
                name in done.stderr for name in (" -m pip install ", part.packages[0])
            ):
                found.append(f"workbench {' '.join(words)}: {done.stderr}")
    return found


def answers(lines: str) -> list[str]:
    """The most probable classes, in the order of the pictures."""
    return [json.loads(line)["scores"][0]["class"] for line in lines.splitlines()]


def is_right(picture: str, label: str) -> bool:
    """By the name of a bundled picture: `ankle_boot_01.png` is of “Ankle boot”."""
    return Path(picture).stem[:-3] in label.lower().replace(" ", "_").replace("-", "_")


def sizes(python: Path) -> str:
    """MB of 10^6 bytes that files take, without pip."""
    own, compiled = Counter[str](), Counter[str]()
    site = Path(sysconfig.get_path("purelib", vars={"base": str(python.parents[1])}))
    for path in site.rglob("*"):
        name = path.relative_to(site).parts[0].removesuffix(".libs").lower()
        if path.is_file() and not name.startswith(("pip", "setuptools", "pkg_", "_distutils")):
            kind = compiled if path.suffix == ".pyc" else own
            kind[{"pil": "pillow"}.get(name, name)] += path.stat().st_size
    total = own.total() + compiled.total()
    others = total - own["workbench"] - compiled["workbench"]
    largest = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in own.most_common(6))
    return (
        f"{total / 1e6:.0f} MB installed, {others / 1e6:.0f} without Workbench itself (goal "
        f"{GOAL_MB}); {own.total() / 1e6:.0f} and {(own.total() - own['workbench']) / 1e6:.0f} "
        f"without compiled modules; largest: {largest}"
    )


def run(place: Path, program: Path, *words: str, source: bool = False) -> str:
    """What a program prints; ends all when it fails."""
    done = result(place, program, *words, source=source)
    if done.returncode != 0:
        raise SystemExit(f"{program.name} {' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def result(
    place: Path, program: Path, *words: str, source: bool = False
) -> subprocess.CompletedProcess[str]:
    """Runs a program in a folder and a home of its own: with the sources, or away from them."""
    own = {"WORKBENCH_HOME": str(place / "home"), "PYTHONPATH": str(ROOT) if source else ""}
    return subprocess.run(
        [str(program), *words],
        cwd=place,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
