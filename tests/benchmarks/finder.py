"""The learning-rate finder against a grid of nine rates on four networks.

`bash packaging/bench.sh finder [--only NETWORK[,NETWORK]] [--seeds N] [--results FOLDER]`

Each network is trained by the real trainer with nine rates, half a decade apart, and the rates
near the best with further seeds. The finder then searches twice: beside the rate of the template,
and beside the lowest rate of the grid, as if that were the project's. What it suggests is trained
with the same seeds, and must come within half a point of the grid's best mean validation accuracy,
or within two standard errors of that difference. `--results` keeps every training and search in a
folder, so that the table can be made in several goes; begin an empty one after a change.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from tests.benchmarks._finder_grid import CASES, Case, Grid
from tests.benchmarks._runs import own_home
from workbench.core.format import rate_text
from workbench.core.projects.project_file import project_text
from workbench.protocol.find import FindLearningRate, LearningRateFound
from workbench.protocol.messages import Failed
from workbench.protocol.service_call import ServiceCall

GOAL = 0.005
SEEDS = (7, 1, 2, 3, 4)


@dataclass(frozen=True)
class Search:
    """What the finder said beside one present rate, and what came of it.

    Attributes:
        present: The project's rate.
        found: The finder's answer.
        seconds: Its duration.
        accuracy: Mean validation accuracy with the suggestion, 0..1; None without one.
        behind: The grid's best mean less `accuracy`, of the same seeds.
        error: Standard error of `behind` over the seeds.
    """

    present: float
    found: LearningRateFound
    seconds: float
    accuracy: float | None = None
    behind: float = 0.0
    error: float = 0.0

    @property
    def is_right(self) -> bool:
        """Near enough to the best, or the finder said that it cannot tell."""
        return self.accuracy is None or self.behind <= max(GOAL, 2 * self.error)


def main(words: Sequence[str]) -> int:
    """Prints the table; returns 1 where a suggestion is not good enough."""
    parser = argparse.ArgumentParser(prog="finder")
    keys = [case.key for case in CASES]
    parser.add_argument("--only", default=",".join(keys), metavar="NETWORK[,NETWORK]")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=None)
    arguments = parser.parse_args(words)
    home = own_home()
    results = (arguments.results or home).resolve()
    results.mkdir(parents=True, exist_ok=True)
    grid, seeds = Grid(results / "grid.json"), SEEDS[: max(1, arguments.seeds)]
    lines, is_right = [], True
    for case in CASES:
        if case.key not in arguments.only.split(","):
            continue
        if not case.is_there:
            print(f"{case.words}: not measured, {case.images} is not there", flush=True)
            continue
        print(f"-- {case.words}", flush=True)
        searches = _searches(case, grid, seeds, results / "searches.json")
        is_right = is_right and all(search.is_right for search in searches)
        lines += _rows(case, grid, seeds, searches)
    print(_HEAD, *lines, sep="\n", flush=True)
    shutil.rmtree(home, ignore_errors=True)
    return 0 if is_right else 1


def _searches(case: Case, grid: Grid, seeds: Sequence[int], kept: Path) -> list[Search]:
    own = case.make().recipe.learning_rate
    searches = []
    for present in (own, case.rates[0]):
        search = kept_search(case, present, kept)
        print(f"  beside {rate_text(present)}: {search.found.words}", flush=True)
        searches.append(_judged(case, grid, seeds, search))
    return searches


def kept_search(case: Case, present: float, path: Path) -> Search:
    """A search, from a file of earlier ones where it is in there."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    key = f"{case.key} {present:g}"
    if key not in known:
        search = _search(case, present)
        known[key] = [search.seconds, msgspec.to_builtins(search.found)]
        path.write_text(json.dumps(known, indent=1), encoding="utf-8")
    seconds, found = known[key]
    return Search(present, msgspec.convert(found, LearningRateFound), seconds)


def _search(case: Case, present: float) -> Search:
    project = case.make()
    recipe = project.recipe.with_values(learning_rate=present)
    text, began = project_text(replace(project, recipe=recipe)), time.monotonic()
    with ServiceCall() as service:
        *_, answer = service.answers(FindLearningRate(id=1, project=text))
    if isinstance(answer, Failed):
        raise SystemExit(f"The finder failed: {answer.error.what}")
    assert isinstance(answer, LearningRateFound)
    return Search(present, answer, time.monotonic() - began)


def _judged(case: Case, grid: Grid, seeds: Sequence[int], search: Search) -> Search:
    rate = search.found.suggested
    if rate is None:
        return search
    best = _best(case, grid, seeds)
    pairs = [(grid.accuracy(case, best, s), grid.accuracy(case, rate, s)) for s in seeds]
    behind = [above - own for above, own in pairs]
    return replace(
        search,
        accuracy=statistics.mean(own for _, own in pairs),
        behind=statistics.mean(behind),
        error=statistics.stdev(behind) / math.sqrt(len(behind)) if len(behind) > 1 else 0.0,
    )


def _best(case: Case, grid: Grid, seeds: Sequence[int]) -> float:
    """The rate of the grid with the best mean of all seeds."""
    near = grid.near_best(case, seeds[0])
    return max(near, key=lambda rate: grid.mean(case, rate, seeds))


_HEAD = (
    "| network | grid (first seed) | best of the grid | present rate | suggestion | "
    "accuracy with it | behind the best | search |\n|---|---|---|---|---|---|---|---|"
)


def _rows(case: Case, grid: Grid, seeds: Sequence[int], searches: Sequence[Search]) -> list[str]:
    first = seeds[0]
    values = ", ".join(
        f"{rate_text(rate)}: {100 * grid.accuracy(case, rate, first):.1f}" for rate in case.rates
    )
    best = _best(case, grid, seeds)
    best_words = f"{rate_text(best)}: {grid.mean(case, best, seeds):.2%}"
    rows = []
    for search in searches:
        network = f"{case.words}; {len(seeds)} seeds" if not rows else ""
        cells = [network, values if not rows else "", best_words if not rows else ""]
        rows.append("| " + " | ".join([*cells, *_cells(search)]) + " |")
    return rows


def _cells(search: Search) -> list[str]:
    present, seconds = rate_text(search.present), f"{search.seconds:.0f} s"
    if search.found.suggested is None:
        return [present, "cannot tell", "–", "–", seconds]
    behind = f"{100 * search.behind:+.2f} points (standard error {100 * search.error:.2f})"
    suggestion = f"{rate_text(search.found.suggested)} ({search.found.verdict})"
    return [present, suggestion, f"{search.accuracy or 0.0:.2%}", behind, seconds]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
