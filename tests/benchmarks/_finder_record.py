"""Records what the finder measures on a network, at every rate of its grid, for the tests.

`python -m tests.benchmarks._finder_record NETWORK FILE`: the losses of a sweep, and the last
quarter of the accuracies of each trial; short ones, then the decisive ones.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks._finder_grid import CASES, Case
from tests.benchmarks._runs import own_home
from workbench.core.projects.project_file import project_text
from workbench.protocol.bases import Answer
from workbench.protocol.find import FindLearningRate, LearningRateTried
from workbench.worker.process.lazy_keras import LazyKeras
from workbench.worker.requests.benchmark_setup import set_up
from workbench.worker.requests.find_learning_rate import RateTrainer
from workbench.worker.requests.session import Job, Session

_WHOLE_STEPS = 200


def recorded(case: Case, folder: Path) -> dict[str, Any]:
    """The measurements of one network, as plain values."""
    answers: list[Answer] = []
    session = Session(folder, LazyKeras())
    job = Job(1, send=answers.append, session=session)
    project = project_text(case.make())
    setup = set_up(job, project)
    trainer = RateTrainer(job, setup, FindLearningRate(id=1, project=project))
    trainer.sweep()
    tried = [answer for answer in answers if isinstance(answer, LearningRateTried)]
    labels = setup.data.train.y
    trials: dict[str, dict[str, Any]] = {}
    for steps in (trainer.lengths.short, trainer.lengths.long):
        for rate in sorted({*case.rates, setup.project.recipe.learning_rate}):
            trial = trainer.train(rate, steps)
            tail = [] if trial.has_diverged else trial.tail.round(4).tolist()
            trials.setdefault(str(steps), {})[f"{rate:g}"] = tail
            print(steps, rate, round(trial.accuracy, 4), flush=True)
    return {
        "network": case.words,
        "present": setup.project.recipe.learning_rate,
        "batch_size": trainer.sizes.batch_size,
        "total_steps": trainer.sizes.total_steps,
        "chance": float(np.bincount(labels).max() / len(labels)),
        "sweep": {
            "rates": [float(f"{rate:.5g}") for part in tried for rate in part.rates],
            "losses": [loss and float(f"{loss:.5g}") for part in tried for loss in part.losses],
        },
        "whole_sweep": _whole_sweep(trainer),
        "trials": trials,
    }


def _whole_sweep(trainer: RateTrainer) -> dict[str, list[float]]:
    """A sweep that does not end where the loss diverges, with whatever valleys come behind."""
    rates = np.geomspace(1e-7, 10.0, _WHOLE_STEPS)
    results = trainer._training(rates, "")
    losses = [float(f"{loss:.5g}") for part in results for loss in part.losses]
    return {"rates": [float(f"{rate:.5g}") for rate in rates], "losses": losses}


def main(words: Sequence[str]) -> int:
    """Writes the file."""
    case = next(case for case in CASES if case.key == words[0])
    home = own_home()
    text = json.dumps(recorded(case, Path(tempfile.mkdtemp(dir=home))))
    Path(words[1]).write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
