"""Images/s of virtual:2 beside one replica on this computer, by the real trainer, in turns.

`bash packaging/bench.sh replicas [--rounds 3] [--replicas 2]` prints the medians of each
template and ends with 1 when virtual:2 is below 0.6 of one replica.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
from dataclasses import replace
from functools import partial

from tests.benchmarks._engine_speed import Case, in_turns, make_cases, trainer
from tests.benchmarks._runs import own_home
from workbench.core.projects.project import Choice

GOAL = 0.6
_TEMPLATES = ("cifar10_convnet", "fashion_convnet")


def main() -> int:
    """Returns 0 when the goal is reached by every template."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--replicas", type=int, default=2)
    options = parser.parse_args()
    home = own_home()
    shares = []
    for case in make_cases(home):
        if case.template not in _TEMPLATES:
            continue
        several = Choice("virtual", {"replicas": options.replicas})
        variants = {
            target.key: partial(trainer, _on(case, target))
            for target in (Choice("this_computer"), several)
        }
        speeds = in_turns(variants, options.rounds)
        one, shared = (statistics.median(values) for values in speeds.values())
        shares.append(shared / one)
        print(
            f"{case.template}: this_computer {one:,.0f}, virtual:{options.replicas} "
            f"{shared:,.0f} images/s: {shared / one:.2f}; median of {options.rounds}",
            flush=True,
        )
    shutil.rmtree(home, ignore_errors=True)
    print(f"virtual:{options.replicas} / one replica: at least {min(shares):.2f} (goal {GOAL})")
    return 0 if min(shares) >= GOAL else 1


def _on(case: Case, target: Choice) -> Case:
    return replace(case, project=replace(case.project, target=target))


if __name__ == "__main__":
    sys.exit(main())
