"""10,000 classes of 3 pictures: checked, trained, evaluated, compared, reported, shown in the window.

`python -m tests.proofs.many_classes [--classes 10000]` makes a folder a class with pictures of 8 x 8,
runs the commands that a person would, opens the real window (offscreen) on Data, Train and Evaluate
of the run, and prints the time and the largest process of each, and what the counts say. It ends with
1 where a command fails, an image is lost, or the window takes more than 1 GiB.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import save_project
from workbench.core.training.recipe import TrainingRecipe

PER_CLASS, SIDE = 3, 8
MOST_WINDOW_BYTES = 2**30
_LOOK_S = 0.2


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", type=int, default=10_000)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        os.environ["WORKBENCH_HOME"] = str(Path(place) / "home")
        proof = Proof(Path(place), chosen.classes)
        proof.prove()
    for problem in proof.problems:
        print(f"FAILED: {problem}")
    print(f"many_classes: {chosen.classes:,} classes, {len(proof.problems)} problems")
    return int(bool(proof.problems))


@dataclass
class Proof:
    """The chain of commands on one folder."""

    place: Path
    num_classes: int
    problems: list[str] = field(default_factory=list)

    def prove(self) -> None:
        root, project = self.place / "photos", self.place / "p.workbench"
        make_folder(root, self.num_classes)
        save_project(project_of(root, self.num_classes), project)
        home = self.place / "home" / "runs"
        home.mkdir(parents=True)
        run, other = home / "many", home / "other"
        words = ("--epochs", "1", "--json")
        self._command("data", "check", f"folder:{root}", "--json", codes=(0, 1))
        self._command("train", str(project), "--run", str(run), *words)
        self._evaluated(run)
        self._command("evaluate", str(run))
        self._command("classify", str(run), str(root / "n00001"), "--top", "3", "--json")
        csv_path = self.place / "classified.csv"
        self._command("classify", str(run), str(root / "n00001"), "--top", "0", "--class-folders",
                      "--csv", str(csv_path))  # fmt: skip
        self._command("coach", str(run))
        shutil.copytree(run, other)
        self._command("compare", str(run), str(other), "--json")
        self._command("report", str(run), str(self.place / "report.html"))
        size = (self.place / "report.html").stat().st_size
        print(f"report: {size / 1e6:.1f} MB")
        self._window(project, run)

    def _evaluated(self, run: Path) -> None:
        table = self.place / "images.csv"
        lines = self._command("evaluate", str(run), "--csv", str(table), "--json")
        line = lines.splitlines()[-1]
        matrix = re.search(r'"confusion":(\[\[.*\]\])', line)
        answer = json.loads(line[: matrix.start()] + '"":0}') if matrix else {}
        rows_of_matrix = (matrix[1].strip("[]").split("],[")) if matrix else []
        total = sum(sum(map(int, row.split(","))) for row in rows_of_matrix)
        areas = sum(each["roc_auc"] is not None for each in answer["per_class"])
        with table.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            header = next(rows)
            count = sum(1 for _ in rows)
        print(
            f"evaluate: {total:,} images, {len(rows_of_matrix):,} rows of the matrix, accuracy "
            f"{answer['accuracy']:.4f}, ROC AUC of {areas:,} classes, macro "
            f"{answer['roc_auc']['macro']:.4f}; table of {count:,} rows and {len(header):,} columns"
        )
        if not (total == count and len({*header}) == 5 + self.num_classes == len(header)):
            self.problems.append("evaluate: images or columns are lost")

    def _command(self, *words: str, codes: Sequence[int] = (0,)) -> str:
        output, code = self._measured(words[0], [sys.executable, "-m", "workbench", *words])
        if code not in codes:
            self.problems.append(f"{' '.join(words)}: exit code {code}")
        return output

    def _measured(self, name: str, command: Sequence[str]) -> tuple[str, int]:
        began = time.monotonic()
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err)
            peaks: dict[str, int] = {}
            while process.poll() is None:
                _look_at(process.pid, peaks)
                time.sleep(_LOOK_S)
            code = process.returncode
            out.seek(0)
            err.seek(0)
            output, words = out.read(), err.read()
        largest = ", ".join(f"{kind} {peak / 2**20:,.0f} MiB" for kind, peak in peaks.items())
        print(f"{name:10} {time.monotonic() - began:6.1f} s  {largest}  exit {code}", flush=True)
        if code:
            print(words[-1_500:])
        return output, code

    def _window(self, project: Path, run: Path) -> None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        module = "tests.proofs._many_classes_window"
        command = [sys.executable, "-m", module, str(project), str(run)]
        output, code = self._measured("window", command)
        print(output, end="")
        found = json.loads(output.splitlines()[-1]) if code == 0 else {}
        if found.get("peak_bytes", MOST_WINDOW_BYTES + 1) > MOST_WINDOW_BYTES:
            self.problems.append("the window takes more than 1 GiB, or did not end")


def _look_at(pid: int, peaks: dict[str, int]) -> None:
    """The peak of each kind of process below and with a process."""
    parents = {}
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    wanted = {pid}
    while more := {child for child, parent in parents.items() if parent in wanted} - wanted:
        wanted |= more
    for each in wanted:
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0")
            status = Path(f"/proc/{each}/status").read_text(encoding="utf-8")
            place = next((n for n, word in enumerate(words) if word.startswith(b"workbench")), None)
            if place is not None and "VmHWM" in status:
                peak = 1024 * int(status.split("VmHWM:")[1].split()[0])
                kind = b" ".join(words[place : place + 2]).decode()
                peaks[kind] = max(peaks.get(kind, 0), peak)


def make_folder(root: Path, num_classes: int) -> None:
    """A folder a class; a picture has the class's number in bright and dark blocks, and noise."""
    random = np.random.default_rng(5)
    for number in range(num_classes):
        folder = root / f"n{number:05}"
        folder.mkdir(parents=True)
        bits = np.array([number >> place & 1 for place in range(16)], np.uint8).reshape(4, 4)
        picture = np.kron(bits * 160, np.ones((2, 2), np.uint8))[..., None]
        for copy in range(PER_CLASS):
            noise = random.integers(0, 90, (SIDE, SIDE, 3), dtype=np.uint8)
            Image.fromarray((picture + noise).astype(np.uint8)).save(folder / f"{copy}.png")


def project_of(root: Path, num_classes: int) -> Project:
    """A small dense network for the folder."""
    kinds: list[tuple[str, dict[str, object]]] = [
        ("input", {"shape": (SIDE, SIDE, 3)}),
        ("rescaling", {}),
        ("flatten", {}),
        ("dense", {"units": 64, "activation": "relu"}),
        ("dense", {"units": num_classes, "activation": "softmax"}),
    ]
    nodes = [Node(f"n{i}", kind, f"{kind}_{i}", params) for i, (kind, params) in enumerate(kinds)]
    edges = [Edge(a.id, b.id) for a, b in itertools.pairwise(nodes)]
    recipe = TrainingRecipe().with_values(batch_size=256, learning_rate=0.003, seed=7)
    data = Choice("folder", {"path": str(root)})
    return Project(title="Many", graph=Graph.of(nodes, edges), recipe=recipe, dataset=data)


if __name__ == "__main__":
    sys.exit(main())
