"""The coach's rules: each fires on its planted fault, and is silent on the templates' normal runs.

`bash packaging/prove.sh coach [--only TEMPLATE ...] [--minutes 2.5] [--data FOLDER]` runs the tests of
the rules, each a real training with a planted fault, one without it, and one with the change that
the finding suggests. Then each template is trained as it is, but stopped after so many minutes (of
a template whose epochs take longer than that, each epoch is shorter), and all rules look at it
after each of its epochs, as they do live. Ends with 1 where one of them has found something.

Overfitting of a template's own recipe is no false alarm where it is true by figures that the rule
does not look at: the training accuracy is ten points and more above that of the validation.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.benchmarks._runs import own_home, wait_for
from workbench.core.coach import Advice, RunRecord
from workbench.core.projects.project import Choice, Project
from workbench.protocol.events import EpochFinished
from workbench.runs.control import request_stop
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.coaching import advice_of, read_project, record_of, with_files
from workbench.runs.log.event_log import EventReader, read_all
from workbench.runs.log.history import MetricHistory
from workbench.runs.start import start_trainer
from workbench.templates import find_template

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
_GAP = 0.1
_END_S = 600.0
"""For the test at the end of a run that is stopped."""

TEMPLATES: dict[str, dict[str, object]] = {
    "cifar10_convnet": {},
    "cifar10_speedrun": {},
    "fashion_convnet": {},
    "flowers_convnet": {},
    "flowers_dense": {},
    "flowers_gap": {},
    "flowers_squeeze": {},
    "flowers_transfer": {},
    "lenet5": {},
    "small_resnet": {"steps_per_epoch": 60},
}
"""Template, and what of its recipe is changed so that it has epochs within the minutes."""


@dataclass(frozen=True)
class Moment:
    """What the rules find once an epoch has ended.

    Attributes:
        epoch: Its number.
        alarms: What they find; not what is true.
        true: Overfitting that other figures confirm.
    """

    epoch: int
    alarms: tuple[Advice, ...]
    true: tuple[Advice, ...]


def moments(run: RunFolder) -> Iterator[Moment]:
    """What the rules find after each epoch of a run, as they do live."""
    history, project = MetricHistory(), read_project(run)
    for event in read_all(run.events_path):
        history.add_all([event])
        if isinstance(event, EpochFinished):
            record = with_files(record_of(history), run, project)
            yield _moment(event.epoch, record, advice_of(record))


def _moment(epoch: int, record: RunRecord, found: Sequence[Advice]) -> Moment:
    gap = float(record.accuracy[-1] - record.val_accuracy[-1])
    true = [each for each in found if each.rule == "overfits" and gap >= _GAP]
    return Moment(epoch, tuple(each for each in found if each not in true), tuple(true))


def main() -> int:
    """Returns 0 when each rule fires where it must and no rule does where it must not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(TEMPLATES), default=list(TEMPLATES))
    parser.add_argument("--minutes", type=float, default=2.5)
    parser.add_argument("--data", type=Path, default=SHARED)
    options = parser.parse_args()
    began = time.monotonic()
    rules = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/worker/coach"], check=False
    )
    home = own_home()
    failed = [
        name for name in options.only if _has_alarm(name, options.data.resolve(), options.minutes)
    ]
    shutil.rmtree(home, ignore_errors=True)
    print(
        f"coach: planted faults {'found' if not rules.returncode else 'MISSED'}, false alarms in "
        f"{len(failed)} of {len(options.only)} templates, {time.monotonic() - began:,.0f} s"
    )
    return 1 if failed or rules.returncode else 0


def _has_alarm(name: str, data: Path, minutes: float) -> bool:
    """Trains a template and prints what the rules found in it."""
    run = train(local_project(name, data), minutes)
    found = list(moments(run))
    first: dict[str, str] = {}
    for moment in found:
        for words, some in (("FALSE", moment.alarms), ("true", moment.true)):
            for each in some:
                line = f"  {words}, epoch {moment.epoch}: {each.title}: {each.observation}"
                first.setdefault(f"{words} {each.rule}", line)
    words = "findings" if first else "silent" if found else "FAILED: not one epoch"
    print(f"{name}: {len(found)} of {read_project(run).recipe.epochs} epochs: {words}", flush=True)
    for line in first.values():
        print(line, flush=True)
    return any(moment.alarms for moment in found) or not found


def local_project(name: str, data: Path) -> Project:
    """A template's project, with epochs within minutes, and CIFAR-10 of the folder of shared data,
    where it is there: the flowers are bundled.
    """
    project = find_template(name).project
    project = replace(project, recipe=project.recipe.with_values(**TEMPLATES[name]))
    if project.dataset.key == "cifar10" and (data / "cifar10.npz").is_file():
        return replace(project, dataset=Choice("npz", {"path": str(data / "cifar10.npz")}))
    return project


def train(project: Project, minutes: float) -> RunFolder:
    """Trains for so long, counted from the first step; what it has begun is tested and kept."""
    run = create_run(project)
    start_trainer(run)
    reader, ends_at = EventReader(run.events_path), None
    while ends_at is None or time.monotonic() < ends_at:
        events = reader.read_new()
        names = {type(event).__name__ for event in events}
        if "RunFinished" in names:
            return run
        if ends_at is None and "Batch" in names:
            ends_at = time.monotonic() + 60.0 * minutes
        time.sleep(0.2)
    request_stop(run)
    wait_for(run, timeout_s=_END_S)
    return run


if __name__ == "__main__":
    sys.exit(main())
