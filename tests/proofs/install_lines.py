"""Each line that Workbench prints for a missing part is run in a new environment; then the part is used."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workbench.parts import PARTS

ROOT = Path(__file__).resolve().parents[2]
_LINE = re.compile(r"`([^`]* install [^`]*)`")
_HEIC = (
    "import numpy, pillow_heif; from PIL import Image; pillow_heif.register_heif_opener();"
    "Image.fromarray(numpy.full((32, 32, 3), 200, 'uint8')).save('photo.heic')"
)
_CAMERA = (
    "from workbench.gui.classify.webcam import cameras, multimedia;"
    "assert multimedia() is not None; print(len(cameras()), 'cameras')"
)
_TFDS = "import tensorflow_datasets as tfds; print(len(tfds.list_builders()), 'data sets')"
USES = {
    "classify": ("workbench classify RUN picture.png --json",),
    "train": ("workbench train p.workbench --run again --epochs 1 --json",),
    "window": ("workbench report RUN r.pdf",),
    "litert": ("workbench export RUN litert m.tflite --json",),
    "keras2": ("workbench export RUN weights_keras2 w.keras2.h5 --json",),
    "parquet": ("workbench runs export RUN curves.parquet",),
    "heic": (f"python -c {json.dumps(_HEIC)}", "workbench classify RUN photo.heic --json"),
    "tfds": (f"python -c {json.dumps(_TFDS)}",),
    "camera": (f"python -c {json.dumps(_CAMERA)}",),
    "tfjs": ("workbench export RUN tensorflowjs tfjs_model --json",),
}
"""What is done with a part once it is there, in a shell of its environment."""


def main() -> int:
    """Prints a line of a table for each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", metavar="PART", help="only these, by their keys")
    chosen = parser.parse_args().parts
    with tempfile.TemporaryDirectory() as name:
        proof = _Proof(Path(name), set(chosen or [*USES, "cuda"]))
        proof.light()
        proof.full()
    for fault in proof.faults:
        print(f"FAILED: {fault}")
    print(f"{proof.count} lines were run, {len(proof.faults)} failed.")
    return int(bool(proof.faults))


class _Proof:
    """Two environments in a folder: one with a part alone, one as `packaging/run.sh` makes it."""

    def __init__(self, place: Path, chosen: set[str]) -> None:
        self.place, self.chosen = place, chosen
        self.faults: list[str] = []
        self.count = 0
        self._python = Path()

    def light(self) -> None:
        """The parts of "full", beside a Workbench that has none of them."""
        keys = [key for key in ("classify", "train", "window") if key in self.chosen]
        if not keys:
            return
        self._enter(self.place / "light")
        self._must(f"{sys.executable} -m venv {self.place}/light")
        self._must(f'"{self._python}" -m pip install --quiet "{ROOT}"')
        self._prepare(with_run=False)
        for key in ("train", *(key for key in keys if key != "train")):
            self._try(key, self._printed_by_doctor(key))
            if key == "train" and "classify" in keys:
                self._must("workbench train p.workbench --run RUN --epochs 1 --json")

    def full(self) -> None:
        """All others, beside what `packaging/run.sh` sets up."""
        keys = [part.key for part in PARTS if part.key in self.chosen]
        keys = [key for key in keys if key not in {"classify", "train", "window"}]
        if not keys and not self.chosen & {"tfjs", "cuda"}:
            return
        self._enter(self.place / "full")
        self._must(f'. "{ROOT}/packaging/setup.sh" && make_venv requirements.lock')
        self._prepare(with_run=True)
        for key in keys:
            self._try(key, self._printed_by_doctor(key))
        if "tfjs" in self.chosen:
            done = self._run("workbench export RUN tensorflowjs tfjs_model")
            self._try("tfjs", _line(" ".join(done.stderr.split())))
        if "cuda" in self.chosen:
            code = "from workbench.parts import CUDA; print(CUDA.install_command)"
            line = self._run(f"python -c {json.dumps(code)}").stdout.strip()
            # Several GB, and no GPU to use them: pip finds all packages.
            self._try("cuda", f"{line} --dry-run")

    def _enter(self, environment: Path) -> None:
        self._python = environment / "bin" / "python"

    def _prepare(self, *, with_run: bool) -> None:
        for name in ("RUN", "again"):
            shutil.rmtree(self.place / name, ignore_errors=True)
        self._must("test -e p.workbench || workbench new fashion_convnet p.workbench")
        shutil.copy(
            next((ROOT / "resources" / "samples").rglob("*.png")), self.place / "picture.png"
        )
        if with_run:
            self._must("workbench train p.workbench --run RUN --epochs 1 --json")

    def _printed_by_doctor(self, key: str) -> str:
        """The line that `workbench doctor` has for a part."""
        lines = self._run("workbench doctor --json").stdout.splitlines()
        found = {each["check"]: each for each in map(json.loads, lines)}
        return _line(f"{found[key].get('words', '')} {found[key].get('fix', '')}")

    def _try(self, key: str, line: str) -> None:
        """Runs a printed line, then uses the part."""
        began = time.monotonic()
        self.count += 1
        if not line:
            self._fail(key, "no line is printed")
            return
        done = self._run(line)
        if done.returncode != 0:
            self._fail(key, f"{line}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
            return
        took = time.monotonic() - began
        for use in USES.get(key, ()):
            used = self._run(use)
            if used.returncode != 0:
                self._fail(key, f"{use}\n{used.stdout[-1500:]}{used.stderr[-1500:]}")
                return
        what = " && ".join(USES.get(key, ("(not used)",)))
        shown = line.replace(str(self.place), "PLACE")
        print(f"| {key} | `{shown}` | {took:.0f} s | {what[:60]} |", flush=True)

    def _fail(self, key: str, words: str) -> None:
        self.faults.append(f"{key}: {words}")

    def _must(self, line: str) -> None:
        done = self._run(line)
        if done.returncode != 0:
            raise SystemExit(f"{line}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")

    def _run(self, line: str) -> subprocess.CompletedProcess[str]:
        """Runs a line in a shell, away from the sources, with the commands of the environment."""
        folder = self._python.parent
        own = {
            "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
            "WORKBENCH_HOME": str(self.place / "home"),
            "WORKBENCH_VENV": str(folder.parent),
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHONPATH": "",
            "VIRTUAL_ENV": "",
        }
        return subprocess.run(
            ["bash", "-c", line],
            cwd=self.place,
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            check=False,
        )


def _line(words: str) -> str:
    found = _LINE.search(words)
    return found[1] if found is not None else ""


if __name__ == "__main__":
    sys.exit(main())
