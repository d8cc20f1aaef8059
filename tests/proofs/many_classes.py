"""10,000 classes of 3 pictures: checked, trained, evaluated, compared, reported, shown in the window.

`python -m tests.proofs.many_classes [--classes 10000]` makes a folder a class with pictures of 8 x 8,
runs the commands that a person would, opens the real window (offscreen) on Data, Train and Evaluate
of the run, and prints the time and the largest process of each, and what the counts say. It ends with
1 where a command fails, an image is lost, or the window takes more than 1 GiB.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
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
        run, other = self.place / "run", self.place / "other"
        words = ("--epochs", "1", "--json")
        self._command("data", "check", f"folder:{root}", "--json", codes=(0, 1))
        self._command("train", str(project), "--run", str(run), *words)
        self._command("train", str(project), "--run", str(other), "--set", "seed=8", *words)
        self._evaluated(run)
        self._command("evaluate", str(run))
        self._command("classify", str(run), str(root / "n00001"), "--top", "3", "--json")
        csv_path = self.place / "classified.csv"
        self._command("classify", str(run), str(root / "n00001"), "--top", "0", "--class-folders",
                      "--csv", str(csv_path))  # fmt: skip
        self._command("coach", str(run))
        self._command("compare", str(run), str(other), "--json")
        self._command("report", str(run), str(self.place / "report.html"))
        size = (self.place / "report.html").stat().st_size
        print(f"report: {size / 1e6:.1f} MB")
        self._window(project, run)

    def _evaluated(self, run: Path) -> None:
        table = self.place / "images.csv"
        lines = self._command("evaluate", str(run), "--csv", str(table), "--json")
        answer = json.loads(lines.splitlines()[-1])
        total = sum(map(sum, answer["confusion"]))
        areas = sum(each["roc_auc"] is not None for each in answer["per_class"])
        with table.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            header = next(rows)
            count = sum(1 for _ in rows)
        print(
            f"evaluate: {total:,} images, {len(answer['confusion']):,} rows of the matrix, accuracy "
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
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = code = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            output, words = out.read(), err.read()
        seconds, largest = time.monotonic() - began, used.ru_maxrss / 1024
        print(
            f"{name:10} {seconds:6.1f} s  largest process {largest:6.0f} MiB  exit {code}",
            flush=True,
        )
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
