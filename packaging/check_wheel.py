"""Builds the wheel and runs its command in an environment of its own, away from the sources.

The packages that it needs are those of this environment; that the wheel names them all is
shown by `prove.sh wheel`, which takes long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Prints what was built and what it answers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build(folder)
        command = install(wheel, folder / "python")
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
    # Names the packages of this environment, not what its own .pth files name: the sources.
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    found = run(folder, python, "-c", "import workbench; print(workbench.__file__)")
    if not Path(found.strip()).is_relative_to(folder):
        raise SystemExit(f"Not the wheel is imported, but {found}")
    return python.with_name("workbench")


def read_backbones(folder: Path, python: Path) -> str:
    """The pretrained networks whose bundled weights are in the wheel, with the right checksum."""
    code = (
        "from workbench.backbones import all_backbones, block_of, checked_file\n"
        "print(*(spec.key for spec in all_backbones().values()"
        " if block_of(spec).layers and spec.is_bundled and checked_file(spec).is_file()))"
    )
    return " and ".join(run(folder, python, "-c", code).split())


def run(folder: Path, program: Path, *words: str) -> str:
    """What a program prints in a folder and a home of its own; ends all when it fails."""
    environment = {**os.environ, "WORKBENCH_HOME": str(folder / "home"), "PYTHONPATH": ""}
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
