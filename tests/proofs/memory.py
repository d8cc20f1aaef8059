"""Trains on a folder of pictures ten times the memory limit; memory stays as for a small one.

`python -m tests.proofs.memory [--limit-mb 1000] [--times 10] [--side 512]` makes two folders
of JPEG files, one ten times the other, and trains on both in trainers whose memory is limited
(RLIMIT_DATA: the kernel gives them no more), once from the cache on disk, which needs as much
disk as the pictures decoded, and once streamed. It prints each peak and ends with 1 when a
training failed, or a large one's peak is over 1.15 times the small one's.

RLIMIT_DATA counts what is reserved, used or not. The 8 MiB that each of some fifty threads
reserves for its stack, and leaves untouched, would be 40 % of the limit: stacks have 2 MiB here.

The folders hold many names of a few files (hard links), so that making them is cheap: to the
trainer each name is a picture of its own, decoded and stored by itself.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.protocol.events import DataReady, EpochFinished, RunFinished
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.event_log import read_all
from workbench.runs.start import reap, start_trainer

ALLOWED = 1.15
"""Peak of the large folder over the peak of the small one."""

_STACK = 2 * 2**20
_DISTINCT = 40
_LOOK_S = 0.03


@dataclass(frozen=True)
class Peak:
    """How a trainer ended and the most memory it held, in bytes.

    Attributes:
        outcome: completed, stopped, failed, or died.
        pictures: Training pictures.
        decoded: Bytes of all pictures, decoded at the network's size.
        resident: VmHWM: all memory, with the code of libraries.
        own: Peak of what is not backed by files.
        reserved: Peak of what the limit counts.
        words: Why it failed.
    """

    outcome: str
    pictures: int
    decoded: int
    resident: int
    own: int
    reserved: int
    words: str = ""


def make_folder(folder: Path, count: int, side: int) -> Path:
    """Two classes of `count` JPEG files in all: brighter above, or brighter below."""
    random = np.random.default_rng(1)
    originals = folder.parent / f"originals-{side}"
    originals.mkdir(exist_ok=True)
    for number in range(_DISTINCT):
        light = np.linspace(220, 40, side)[:, None, None] * np.ones((1, side, 3))
        light = light if number % 2 else light[::-1]
        noise = random.normal(0, 3, (side, side, 1))
        pixels = np.clip(light + noise, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(originals / f"{number}.jpg", quality=80)
    for number in range(count):
        kept = folder / ("above", "below")[number % 2]
        kept.mkdir(parents=True, exist_ok=True)
        os.link(originals / f"{number % _DISTINCT}.jpg", kept / f"{number:06d}.jpg")
    return folder


def project_for(folder: Path, side: int, *, place: str, batch_size: int) -> Project:
    """A small network with augmentation, one epoch."""
    kinds = [
        ("input", {"shape": (side, side, 3)}),
        ("random_flip", {}),
        ("random_translation", {}),
        ("rescaling", {}),
        ("average_pooling2d", {"pool_size": (8, 8)}),
        ("conv2d", {"filters": 8, "activation": "relu"}),
        ("global_average_pooling2d", {}),
        ("dense", {"units": 2, "activation": "softmax"}),
    ]
    nodes = [Node(f"n{i}", kind, f"n{i}", params) for i, (kind, params) in enumerate(kinds)]
    edges = [Edge(f"n{i}", f"n{i + 1}") for i in range(len(nodes) - 1)]
    recipe = TrainingRecipe(pipeline=place, batch_size=batch_size, epochs=1, learning_rate=0.01)
    return Project(
        title=f"Memory {place}",
        graph=Graph.of(nodes, edges),
        recipe=recipe,
        dataset=Choice("folder", {"path": str(folder)}),
    )


def train_limited(project: Project, limit: int, side: int) -> Peak:
    """Trains in a process that may have `limit` bytes of data, and watches its memory."""
    run = create_run(project)
    pid = _start_limited(run, limit)
    peaks = dict.fromkeys(("VmHWM", "RssAnon", "VmData"), 0)
    while run.is_alive():
        status = _status(pid)
        peaks = {name: max(peak, status.get(name, 0)) for name, peak in peaks.items()}
        time.sleep(_LOOK_S)
    reap()
    return _peak_of(run, project, side, peaks)


def _start_limited(run: RunFolder, limit: int) -> int:
    usual = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (_STACK, usual[1]))  # a new process inherits it
    try:
        pid = start_trainer(run)
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, usual)
    resource.prlimit(pid, resource.RLIMIT_DATA, (limit, limit))
    return pid


def _peak_of(run: RunFolder, project: Project, side: int, peaks: dict[str, int]) -> Peak:
    events = read_all(run.events_path)
    ready = next((event for event in events if isinstance(event, DataReady)), None)
    finished = next((event for event in events if isinstance(event, RunFinished)), None)
    words = "" if finished is None or finished.error is None else finished.error.what
    if finished is None:
        words = " / ".join(run.log_tail(max_lines=2))
    pictures = ready.num_train if ready else 0
    total = pictures + (ready.num_validation + ready.num_test if ready else 0)
    epochs = sum(isinstance(event, EpochFinished) for event in events)
    outcome = finished.outcome if finished and epochs == project.recipe.epochs else "died"
    decoded = total * side * side * 3
    return Peak(
        outcome, pictures, decoded, peaks["VmHWM"], peaks["RssAnon"], peaks["VmData"], words
    )


def _status(pid: int) -> dict[str, int]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return {}  # it has just ended
    rows = (line.split() for line in lines.splitlines() if line.endswith(" kB"))
    return {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows}


def compare(
    folder: Path, *, limit: int, times: float, side: int, batch_size: int, places: list[str]
) -> bool:
    """Trains small and large in each place and prints it; True when the promise was kept."""
    large_count = int(times * limit / (side * side * 3)) + 1
    small_count = large_count // 10
    small = make_folder(folder / "small", small_count, side)
    large = make_folder(folder / "large", large_count, side)
    is_kept = True
    for place in places:
        peaks = [
            train_limited(project_for(data, side, place=place, batch_size=batch_size), limit, side)
            for data in (small, large)
        ]
        share = peaks[1].own / max(peaks[0].own, 1)
        share_resident = peaks[1].resident / max(peaks[0].resident, 1)
        for name, peak in zip(("small", "large"), peaks, strict=True):
            print(
                f"{place}, {name}: {peak.pictures:,} training pictures, "
                f"{peak.decoded / 2**20:,.0f} MiB decoded ({peak.decoded / limit:.2f} x the limit), "
                f"peak {peak.own / 2**20:,.0f} MiB own, {peak.resident / 2**20:,.0f} MiB resident, "
                f"{peak.reserved / 2**20:,.0f} MiB reserved, {peak.outcome} {peak.words}".rstrip(),
                flush=True,
            )
        print(f"{place}: large / small {share:.3f} own, {share_resident:.3f} resident", flush=True)
        is_done = all(peak.outcome == "completed" for peak in peaks)
        is_kept &= is_done and share <= ALLOWED and share_resident <= ALLOWED
        shutil.rmtree(Path(os.environ["WORKBENCH_HOME"]), ignore_errors=True)
    return is_kept


def main() -> int:
    parser = argparse.ArgumentParser(prog="memory", description=__doc__)
    parser.add_argument("--limit-mb", type=int, default=1000, help="RLIMIT_DATA of a trainer")
    parser.add_argument("--times", type=float, default=10.0, help="decoded pictures / limit")
    parser.add_argument("--side", type=int, default=512, help="pixels, also of the network's input")
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--places", nargs="+", default=["cached", "streamed"])
    parser.add_argument("--folder", type=Path, default=None, help="where the pictures are made")
    options = parser.parse_args()
    limit = options.limit_mb * 2**20
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.environ["WORKBENCH_HOME"] = str(Path(folder) / "home")
        is_kept = compare(
            Path(folder),
            limit=limit,
            times=options.times,
            side=options.side,
            batch_size=options.batch_size,
            places=options.places,
        )
    print(f"limit {options.limit_mb:,} MiB: {'kept' if is_kept else 'BROKEN'}")
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
