"""Builds the wheel and runs its command in environments of their own, away from the sources.

One has all packages of this environment; the other one those that the part `classify` names, and
what these need: it classifies. Nothing is fetched: what pip does with the wheel is shown by
`prove.sh wheel` and `prove.sh light_install`, which take longer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Prints what was built and what it answers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build(folder)
        command = install(wheel, folder / "python")
        # Names the packages of this environment, not what its own .pth files name: the sources.
        (site(folder / "python") / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
        templates = run(folder, command, "templates")
        backbones = read_backbones(folder, command.with_name("python"))
        run(folder, command, "new", "fashion_convnet", "net.workbench")
        answer = json.loads(run(folder, command, "check", "net.workbench", "--json"))
        if not answer["ok"]:
            raise SystemExit(f"A new project has problems: {answer['problems']}")
        print(
            f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB: "
            f"{len(templates.splitlines())} templates, {answer['parameters']:,} parameters, "
            f"bundled weights of {backbones}"
        )
        print(check_classify(folder, wheel))
    return 0


def build(folder: Path) -> Path:
    """The wheel of these sources."""
    words = ("-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT))
    run(folder, Path(sys.executable), *words)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """Installs the wheel alone; returns the command `workbench` of its environment."""
    venv.create(folder)
    python = folder / "bin" / "python"
    words = ("--quiet", "--disable-pip-version-check", "install", "--no-deps", "--no-index")
    run(folder, Path(sys.executable), "-m", "pip", "--python", str(python), *words, str(wheel))
    found = run(folder, python, "-c", "import workbench; print(workbench.__file__)")
    if not Path(found.strip()).is_relative_to(folder):
        raise SystemExit(f"Not the wheel is imported, but {found}")
    return python.with_name("workbench")


def site(environment: Path) -> Path:
    """Where packages of an environment are."""
    return Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))


def check_classify(folder: Path, wheel: Path) -> str:
    """Classifies with the packages of the part alone; returns what was there and the answer."""
    command = install(wheel, folder / "light")
    names = link_packages(site(folder / "light"), "model-workbench", "classify")
    if others := {"tensorflow", "keras", "pyside6-essentials"} & names:
        raise SystemExit(f"The part classify brings {', '.join(sorted(others))}.")
    code = (
        "from pathlib import Path\n"
        "from tests.bright_network import GRAPH, bright_picture, keep_bright_network\n"
        "from workbench.core.projects.project import Project\n"
        "from workbench.runs.folder import create_run\n"
        "run = create_run(Project(graph=GRAPH), home=Path('runs'))\n"
        "keep_bright_network(run)\n"
        "print(run.path, bright_picture(Path()))"
    )
    made = run(folder, Path(sys.executable), "-c", code, sources=ROOT).split()
    answer = json.loads(run(folder, command, "classify", *made, "--json"))
    if answer["label"] != "light":
        raise SystemExit(f"The part classify answers {answer}.")
    return f"part classify: {len(names)} packages, a picture classified"


def link_packages(place: Path, name: str, extra: str) -> set[str]:
    """Links what a package of `place` needs with an extra, and what that needs, from this
    environment; returns the names, in lower case.
    """
    (found,) = metadata.distributions(path=[str(place)], name=name)
    open_names = set(needed(found, extra))
    done: set[str] = set()
    while open_names - done:
        package = metadata.distribution((open_names - done).pop())
        done.add(package.name.lower())
        open_names |= set(needed(package))
        for top in {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}:
            if not (place / top).exists():
                (place / top).symlink_to(package.locate_file(top))
    return done


def needed(package: metadata.Distribution, extra: str = "") -> Iterator[str]:
    """Names of the packages that one needs here, in lower case."""
    for line in package.requires or []:
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
            yield metadata.distribution(wanted.name).name.lower()


def read_backbones(folder: Path, python: Path) -> str:
    """The pretrained networks whose bundled weights are in the wheel, with the right checksum."""
    code = (
        "from workbench.backbones import all_backbones, block_of, checked_file\n"
        "print(*(spec.key for spec in all_backbones().values()"
        " if block_of(spec).layers and spec.is_bundled and checked_file(spec).is_file()))"
    )
    return " and ".join(run(folder, python, "-c", code).split())


def run(folder: Path, program: Path, *words: str, sources: Path | str = "") -> str:
    """What a program prints in a folder and a home of its own; ends all when it fails."""
    environment = {**os.environ, "WORKBENCH_HOME": str(folder / "home"), "PYTHONPATH": str(sources)}
    result = subprocess.run(
        [str(program), *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise SystemExit(
            f"{program.name} {' '.join(words)} failed:\n{result.stdout}{result.stderr}"
        )
    return result.stdout


if __name__ == "__main__":
    sys.exit(main())
