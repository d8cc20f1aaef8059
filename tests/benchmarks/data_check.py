"""The data check of the flower photos: images a second, without and with label errors.

Through a real service worker, its start and TensorFlow's included. Printed are the whole check and
the time of the worker alone, as the command prints it.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from tests.benchmarks._runs import own_home
from workbench.cli._service import open_service
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import project_text
from workbench.core.projects.texts import parse_source
from workbench.datasets import all_datasets
from workbench.protocol.data_check import CheckData, DataCheckReport

FLOWERS = Path(__file__).resolve().parents[3] / "shared" / "data" / "flowers"
ROUNDS = 3
GOALS = {False: 400, True: 150}
"""Images a second."""

_WORDS = {
    False: "exact checks, duplicates and near duplicates",
    True: "the same, and label errors",
}


def main() -> None:
    """Prints the medians."""
    if not FLOWERS.is_dir():
        raise SystemExit(f"{FLOWERS} is not there.")
    own_home()
    project = Project(dataset=parse_source(f"folder:{FLOWERS}", all_datasets()))
    for labels, goal in GOALS.items():
        speeds = [_speeds(project, labels=labels) for _ in range(ROUNDS)]
        first, again = (statistics.median(values) for values in zip(*speeds, strict=True))
        print(
            f"{_WORDS[labels]}: {first:,.0f} images/s in a new worker, {again:,.0f} in one that "
            f"has checked before (median of {ROUNDS}, goal {goal})"
        )


def _speeds(project: Project, *, labels: bool) -> tuple[float, float]:
    """Images a second of the first and of the second check of a worker."""
    speeds = []
    with open_service() as service:
        for number in (1, 2):
            request = CheckData(id=number, project=project_text(project), labels=labels)
            began = time.perf_counter()
            answers = list(service.answers(request))
            seconds = time.perf_counter() - began
            (report,) = (each for each in answers if isinstance(each, DataCheckReport))
            speeds.append(report.num_images / seconds)
    return speeds[0], speeds[1]


if __name__ == "__main__":
    main()
