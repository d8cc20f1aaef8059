"""A list of 1,000 runs: under 200 ms wanted, also when the index has to be made again."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from tests.benchmarks._runs import own_home
from workbench.protocol.events import (
    Batch,
    BestEpoch,
    DataReady,
    EpochFinished,
    Plan,
    RunFinished,
    RunStarted,
    TestResult,
)
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.home import runs_home
from workbench.runs.library.index import INDEX_NAME, list_runs, matches
from workbench.runs.log.event_log import EventWriter
from workbench.runs.store.notes import RunNotes, write_notes
from workbench.templates import find_template

NUM_RUNS = 1_000
EPOCHS, STEPS = 20, 600
REPEATS = 15
FILTER = "cifar tag:paper acc>0.5 -failed"


def written_run() -> RunFolder:
    """A finished training of 12,000 steps, as a trainer leaves it: a log of 450 kB."""
    run = create_run(find_template("cifar10_convnet").project, title="A training")
    with EventWriter(run.events_path) as writer:
        writer.write(
            RunStarted(
                run=str(run.path), target="this_computer", precision="bfloat16", seed=1,
                versions={}, plan=Plan(precision="bfloat16"), epochs=EPOCHS, batch_size=64, pid=1,
            )
        )  # fmt: skip
        writer.write(
            DataReady(
                class_names=[str(number) for number in range(10)], num_train=45_000,
                num_validation=5_000, num_test=10_000, steps_per_epoch=STEPS,
            )
        )  # fmt: skip
        for epoch in range(1, EPOCHS + 1):
            _write_epoch(writer, epoch)
        writer.write(
            RunFinished(
                outcome="completed", run=str(run.path), seconds=300.0, epochs_done=EPOCHS,
                test=TestResult(loss=0.5, accuracy=0.8, count=10_000),
                best=BestEpoch(epoch=EPOCHS, val_accuracy=0.8, val_loss=0.5),
            )
        )  # fmt: skip
    write_notes(run, RunNotes(tags=["paper", "bfloat16"], text="Twice the filters of the last."))
    return run


def _write_epoch(writer: EventWriter, epoch: int) -> None:
    for first in range((epoch - 1) * STEPS + 1, epoch * STEPS, 20):
        losses = [1 / (first + k) for k in range(20)]
        writer.write(
            Batch(
                epoch=epoch, step=first + 19, first_step=first, loss=losses[-1], accuracy=0.5,
                losses=losses, accuracies=[0.515625] * 20, images_per_second=3_000.0,
                learning_rate=0.001,
            )
        )  # fmt: skip
    writer.write(
        EpochFinished(
            epoch=epoch, step=epoch * STEPS, loss=0.5, accuracy=0.8, val_loss=0.5,
            val_accuracy=0.8, seconds=15.0, images_per_second=3_000.0,
        )
    )  # fmt: skip


def fill_home() -> int:
    """Copies one run a thousand times; returns the bytes of one log."""
    first = written_run()
    for number in range(1, NUM_RUNS):
        shutil.copytree(first.path, first.path.with_name(f"{first.name}_{number}"))
    return first.events_path.stat().st_size


def timed(work: object, repeats: int) -> tuple[float, float]:
    """Median wall and processor time of a call in milliseconds."""
    walls, works = [], []
    for _ in range(repeats):
        wall, busy = time.perf_counter(), time.process_time()
        work()  # type: ignore[operator]
        walls.append(time.perf_counter() - wall)
        works.append(time.process_time() - busy)
    return 1000 * statistics.median(walls), 1000 * statistics.median(works)


def list_without_index() -> None:
    """What the first look at runs costs that were not listed here before."""
    (runs_home() / INDEX_NAME).unlink(missing_ok=True)
    if len(list_runs()) != NUM_RUNS:
        raise SystemExit("Runs are missing in the list.")


def in_new_process() -> float:
    """Milliseconds of the first list in a process that has just started."""
    code = (
        "import time; from workbench.runs.library.index import list_runs; t = time.perf_counter(); "
        "n = len(list_runs()); print((time.perf_counter() - t) * 1000)"
    )
    command = [sys.executable, "-c", code]
    root = Path(__file__).parents[2]
    return float(subprocess.run(command, cwd=root, capture_output=True, check=True).stdout)


def main() -> None:
    home = own_home()
    log_bytes = fill_home()
    wall, busy = timed(list_without_index, 5)
    print(f"{NUM_RUNS:,} runs with logs of {log_bytes / 1000:,.0f} kB, wanted: 200 ms")
    print(f"  index rebuilt        {wall:7.1f} ms, of which {busy:.1f} ms CPU")
    cold = statistics.median(in_new_process() for _ in range(5))
    print(f"  in a new process     {cold:7.1f} ms")
    wall, busy = timed(list_runs, REPEATS)
    print(f"  listed again         {wall:7.1f} ms, of which {busy:.1f} ms CPU")
    runs = list_runs()
    wall, busy = timed(lambda: [run for run in runs if matches(run, FILTER)], REPEATS)
    print(f"  filtered by words    {wall:7.1f} ms, of which {busy:.1f} ms CPU (wanted: 10 ms)")
    size = (runs_home() / INDEX_NAME).stat().st_size
    print(f"  index file           {size / 1000:7,.0f} kB")
    if msgspec.structs.asdict(runs[0])["parameters"] != 1_676_982:
        raise SystemExit("The figures of the list are wrong.")
    shutil.rmtree(home)


if __name__ == "__main__":
    main()
