"""The trainer in the Python environment that a TPU VM gets, on this processor, beside this one's.

`bash packaging/prove.sh tpu_environment [--graphs 4] [--pauses 99] [--only NAME] [--jobs 1]`.
The environment is made from its lock file as the bridge makes it (kept in the cache folder), and
the sources are those that the bridge sends. There, with `virtual:2,like_tpu` as the target:

- every template, one network with every kind of layer, and random networks train 12 float32
  steps to `completed`, validate, and keep their weights;
- paused within, and resumed, they end the same to the bit, from a checkpoint;
- this computer's TensorFlow trains the same: no loss is off by more than 0.1 %, and no array of
  weights by more than that of its length. Adam and its kin divide each first gradient by its own
  size, so that a gradient of rounding alone becomes a whole step: hence by length, not by number;
- both environments classify a picture by the weights made there, to 1e-5;
- this_computer as the target, with XLA requested, trains too; what needs XLA for the processor
  all the same, a convolution in groups, fails in words that say what to choose.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

import workbench
from tests.proofs._environment_place import RemoteHost, tpu_variables, unpacked_code
from tests.proofs._environment_projects import grouped, on_pictures, small_projects
from tests.proofs._locked_environment import locked_python, of_a_window
from tests.proofs._tiny_runs import Tail, differences, history_of, wait_for_end
from workbench.core.projects.project import Choice, Project
from workbench.protocol.classify import Classified
from workbench.protocol.events import Batch, RunFinished, RunStarted
from workbench.runs.control import request_pause
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.event_log import read_all
from workbench.runs.store.weights_file import read_arrays

MOST_APART = 1e-3
"""Of losses, and of arrays of weights by their length, between the two TensorFlows."""

MOST_SCORE = 1e-5
"""Of a class's probability, by the same weights in both environments."""

TARGET = Choice("virtual", {"replicas": 2, "like_tpu": True})
STEPS = 12


@dataclass
class Row:
    """What was found of one project."""

    name: str
    run: RunFolder
    steps: int = 0
    paused: str = "-"
    loss: float | None = None
    weights: float | None = None
    score: float | None = None
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    def line(self) -> str:
        """Of the table."""
        figures = [
            f"{v:.1e}" if v is not None else "-" for v in (self.loss, self.weights, self.score)
        ]
        end = "; ".join(self.problems) or "ok"
        return (
            f"{self.name:<26} {self.steps:>5} {self.paused:>8} {figures[0]:>9} {figures[1]:>9} "
            f"{figures[2]:>9} {self.seconds:>6.0f}  {end}"
        )


HEAD = (
    f"{'project':<26} {'steps':>5} {'paused':>8} {'loss':>9} {'weights':>9} {'scores':>9} {'s':>6}"
)


class Proof:
    """Trains in two places, and compares.

    Args:
        folder: Of all that is made.
        there: The environment to be proved.
        here: This one.
    """

    def __init__(self, folder: Path, there: RemoteHost, here: RemoteHost) -> None:
        self.folder, self.there, self.here = folder, there, here

    def project(self, name: str, project: Project, *, is_paused: bool) -> Row:
        """Trains one there, with and without a pause, and here."""
        began = time.monotonic()
        folder = self.folder / "".join(c if c.isalnum() else "_" for c in name)
        folder.mkdir()
        project = on_pictures(project, folder / "pictures.npz", TARGET)
        row = Row(name, self._trained(project, folder / "there" / "run", self.there))
        row.steps = len(history_of(row.run).losses)
        row.problems += faults(row.run)
        if "tensorflow-tpu" not in versions_of(row.run):
            row.problems.append("not trained by the TensorFlow for TPUs")
        if not row.problems:
            ours = self._trained(project, folder / "here" / "run", self.here)
            row.problems += faults(ours) or self._compare(row, ours)
            if "tensorflow-tpu" in versions_of(ours):
                row.problems.append("compared with itself")
            if is_paused:
                self._pause(row, project, folder / "paused" / "run")
        row.seconds = time.monotonic() - began
        return row

    def _trained(self, project: Project, path: Path, place: RemoteHost) -> RunFolder:
        run = create_run(project, path=path)
        place.start(run)
        wait_for_end(run)
        return run

    def _compare(self, row: Row, ours: RunFolder) -> list[str]:
        left, right = (np.array(history_of(run).losses) for run in (row.run, ours))
        row.loss = float(np.max(np.abs(left - right) / np.maximum(1.0, np.abs(right))))
        theirs, mine = read_arrays(row.run.weights_path), read_arrays(ours.weights_path)
        row.weights = max(
            (_apart(array, mine[name]) for name, array in theirs.items()), default=0.0
        )
        return [
            f"{words} differ by {value:.1e}"
            for words, value in (("losses", row.loss), ("weights", row.weights))
            if not value <= MOST_APART
        ]

    def _pause(self, row: Row, project: Project, path: Path) -> None:
        run = create_run(project, path=path)
        self.there.start(run)
        Tail(run).until(lambda event: isinstance(event, Batch | RunFinished))
        request_pause(run)
        wait_for_end(run)
        end = history_of(run).finished
        step = len(history_of(run).losses)
        if end is None or not end.is_paused or not any(run.checkpoints_path.iterdir()):
            row.problems.append(f"not paused, but {end}")
            return
        self.there.start(run, resume=True)
        wait_for_end(run)
        row.paused = f"{step}/{STEPS}"
        row.problems += [*faults(run), *differences(run, row.run)]
        begun = [event for event in read_all(run.events_path) if isinstance(event, RunStarted)]
        if len(begun) != 2 or begun[1].bit_exact is not True:
            row.problems.append("resumed, but not to the bit")

    def classify(self, rows: list[Row]) -> None:
        """Has both environments classify a picture of each by the weights made there."""
        pictures = [(row.run, _picture(row.run)) for row in rows if not row.problems]
        pairs = zip(self.there.classify(pictures), self.here.classify(pictures), strict=True)
        for row, (theirs, ours) in zip([r for r in rows if not r.problems], pairs, strict=True):
            if not isinstance(theirs, Classified) or not isinstance(ours, Classified):
                row.problems.append(f"not classified: {theirs} {ours}"[:300])
                continue
            scores = {score.name: score.probability for score in ours.scores}
            row.score = max(abs(scores[s.name] - s.probability) for s in theirs.scores)
            if not row.score <= MOST_SCORE or len(scores) != len(theirs.scores):
                row.problems.append(f"scores differ by {row.score:.1e}")

    def processor(self) -> Row:
        """this_computer there, with XLA requested."""
        name, project = next(iter(small_projects(0)))
        project = self._elsewhere("processor", project, xla="on", mixing="mixup")
        row = Row(
            f"this_computer, {name}"[:26],
            self._trained(project, self.folder / "processor" / "there" / "run", self.there),
        )
        row.steps = len(history_of(row.run).losses)
        row.problems += faults(row.run)
        return row

    def groups(self) -> Row:
        """A convolution in groups there."""
        project = self._elsewhere("groups", grouped())
        run = self._trained(project, self.folder / "groups" / "there" / "run", self.there)
        row = Row("in groups: says why not", run)
        end = history_of(run).finished
        words = "" if end is None or end.error is None else f"{end.error.what} {end.error.fix}"
        if "cannot compile for the CPU" not in words or "tpu:local" not in words:
            row.problems.append(f"ended otherwise: {end}")
        return row

    def _elsewhere(self, name: str, project: Project, **recipe: object) -> Project:
        (self.folder / name).mkdir()
        path = self.folder / name / "pictures.npz"
        return on_pictures(project, path, Choice("this_computer"), **recipe)


def faults(run: RunFolder) -> list[str]:
    """Why a run is not as a completed, validated one must be; empty when it is."""
    history = history_of(run)
    end = history.finished
    if end is None or end.outcome != "completed":
        tail = run.log_path.read_text(errors="replace")[-300:] if end is None else end.error
        return [f"not completed in {run.path.parent.name}: {tail}"]
    found = []
    if len(history.losses) != STEPS or not np.isfinite(history.losses).all():
        found.append(f"{len(history.losses)} losses, or no numbers")
    if any(epoch.val_loss is None for epoch in history.epochs) or end.test is None:
        found.append("not validated or tested")
    if not read_arrays(run.weights_path):
        found.append("no weights")
    return found


def versions_of(run: RunFolder) -> dict[str, str]:
    """What took part in a run, as its trainer logged it; empty where it did not begin."""
    begun = (event for event in read_all(run.events_path) if isinstance(event, RunStarted))
    return next((event.versions for event in begun), {})


def _apart(left: np.ndarray, right: np.ndarray) -> float:
    """How far two arrays are apart, as a share of their length."""
    left, right = left.astype(np.float64), right.astype(np.float64)
    return float(np.linalg.norm(left - right) / max(np.linalg.norm(right), 1e-2))


def _picture(run: RunFolder) -> Path:
    """A picture of its test part as a file."""
    data = run.project().dataset.params["path"]
    with np.load(data) as arrays:
        pixels = arrays["x_test"][0]
    path = run.path.parent / "picture.png"
    Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(path)
    return path


def main() -> int:
    """Returns 0 when nothing is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=4)
    parser.add_argument("--pauses", type=int, default=99, help="of how many projects")
    parser.add_argument("--only", default="", help="projects whose names hold this")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    began = time.monotonic()
    python, packages, is_new = locked_python("tpu")
    qt = of_a_window(packages)
    versions = ", ".join(f"{n} {packages[n]}" for n in ("tensorflow-tpu", "libtpu", "keras"))
    words = "made" if is_new else "found"
    print(f"environment {words}: {versions}; {len(packages)} packages, of Qt: {qt or 'none'}, "
          f"{time.monotonic() - began:.0f} s", flush=True)  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="workbench-tpu-environment-") as text:
        folder = Path(text)
        there = RemoteHost(python, unpacked_code(folder / "code"), folder / "home", tpu_variables())
        own = Path(workbench.__file__).resolve().parent.parent
        proof = Proof(folder, there, RemoteHost(Path(sys.executable), own, folder / "own_home"))
        rows = _rows(proof, options)
        print(HEAD)
        for row in rows:
            print(row.line())
    bad = sum(bool(row.problems) for row in rows) + bool(qt)
    print(f"tpu_environment: {len(rows)} projects, {sum(row.paused != '-' for row in rows)} paused "
          f"and resumed to the bit, worst loss {_worst(rows, 'loss')}, weights "
          f"{_worst(rows, 'weights')} (at most {MOST_APART:g}), scores {_worst(rows, 'score')} (at "
          f"most {MOST_SCORE:g}): {f'{bad} FAILED' if bad else 'all as they must be'}, "
          f"{time.monotonic() - began:.0f} s")  # fmt: skip
    return 1 if bad else 0


def _rows(proof: Proof, options: argparse.Namespace) -> list[Row]:
    chosen = [pair for pair in small_projects(options.graphs) if options.only in pair[0]]

    def one(numbered: tuple[int, tuple[str, Project]]) -> Row:
        number, (name, project) = numbered
        row = proof.project(name, project, is_paused=number < options.pauses)
        print(f"  {row.line()}", file=sys.stderr, flush=True)
        return row

    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(one, enumerate(chosen)))
    proof.classify(rows)
    return rows if options.only else [*rows, proof.processor(), proof.groups()]


def _worst(rows: list[Row], name: str) -> str:
    values = [value for row in rows if (value := getattr(row, name)) is not None]
    return f"{max(values):.1e}" if values else "-"


if __name__ == "__main__":
    sys.exit(main())
