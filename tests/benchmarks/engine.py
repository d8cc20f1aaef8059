"""The training engine beside plain scripts: speed, PyTorch, overhead, peak, time to accuracy.

`bash packaging/bench.sh engine [--only SECTION[,SECTION]] [--rounds N]`. Sections: speed,
pytorch, overhead, peak, accuracy_time. What is compared runs in turns; medians are printed.
"""

from __future__ import annotations

import argparse
import math
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.benchmarks._engine_overhead import print_overhead
from tests.benchmarks._engine_peak import measured_peak, multiply_adds_per_image
from tests.benchmarks._engine_speed import (
    ROOT,
    SHARED,
    Case,
    hidden,
    in_turns,
    make_cases,
    plain_keras,
    plain_torch,
    settle,
    trainer,
)
from tests.benchmarks._engine_target import print_time_to_accuracy
from tests.benchmarks._runs import own_home

SECTIONS = ("speed", "pytorch", "overhead", "peak", "accuracy_time")


@dataclass
class Bench:
    """What the sections share.

    Attributes:
        home: Of all runs and files.
        rounds: Turns of each comparison.
        published_epochs: Epochs the published network needs in plain Keras, or a number
            that is surely too small; None for the figure in tests/proofs/RESULTS.md.
        trainer_speeds: Images/s by template, once measured.
    """

    home: Path
    rounds: int
    published_epochs: int | None
    cases: list[Case]
    trainer_speeds: dict[str, float] = field(default_factory=dict)


def _sections(text: str) -> Sequence[str]:
    names = text.split(",")
    if unknown := set(names) - set(SECTIONS):
        raise argparse.ArgumentTypeError(f"no such section: {', '.join(sorted(unknown))}")
    return names


def main(words: Sequence[str]) -> int:
    """Prints the sections; returns 1 when a goal was missed."""
    parser = argparse.ArgumentParser(prog="engine")
    parser.add_argument("--only", type=_sections, default=SECTIONS, metavar="SECTION[,SECTION]")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--template", action="append", help="of these templates only")
    parser.add_argument("--published-epochs", type=int, default=None)
    arguments = parser.parse_args(words)
    home = own_home()
    cases = make_cases(home)
    if arguments.template:
        cases = [case for case in cases if case.template in arguments.template]
    bench = Bench(home, arguments.rounds, arguments.published_epochs, cases)
    sections: dict[str, Callable[[Bench], bool]] = {
        "speed": _speed,
        "pytorch": _pytorch,
        "overhead": lambda bench: print_overhead(_cifar(bench), bench.rounds),
        "peak": _peak,
        "accuracy_time": lambda bench: print_time_to_accuracy(
            SHARED / "cifar10.npz", bench.published_epochs, bench.rounds
        ),
    }
    results = []
    for name in arguments.only:
        print(f"-- {name}", flush=True)
        results.append(sections[name](bench))
    shutil.rmtree(home, ignore_errors=True)
    return 0 if all(results) else 1


def _speed(bench: Bench) -> bool:
    """(a): the trainer against the plain Keras script, also without bfloat16."""
    ratios, ratios_hidden = [], []
    for case in bench.cases:
        print(f"{case.template}: {settle(case)}", flush=True)
        hidden(_settled)(case)
        variants = {
            "plain Keras": partial(plain_keras, case),
            "trainer": partial(trainer, case),
            "bfloat16 hidden": partial(hidden(trainer), case),
        }
        speeds = in_turns(variants, bench.rounds)
        keras, ours, without = (statistics.median(values) for values in speeds.values())
        bench.trainer_speeds[case.template] = ours
        ratios.append(ours / keras)
        ratios_hidden.append(without / keras)
        print(
            f"{case.template}: plain Keras {keras:,.0f}, trainer {ours:,.0f} images/s "
            f"({ours / keras:.2f} x), with bfloat16 hidden {without:,.0f} "
            f"({without / keras:.2f} x); median of {bench.rounds}",
            flush=True,
        )
    mean = math.prod(ratios) ** (1 / len(ratios))
    smallest = min(*ratios, *ratios_hidden)
    print(f"geometric mean {mean:.2f} x (goal 2.5), smallest {smallest:.2f} x (goal 0.97)")
    return mean >= 2.5 and smallest >= 0.97


def _settled(case: Case) -> float:
    settle(case)
    return 0.0


def _cifar(bench: Bench) -> Case:
    return next(case for case in bench.cases if case.template == "cifar10_convnet")


def _pytorch(bench: Bench) -> bool:
    """(b): the CIFAR-10 template against plain PyTorch."""
    result = subprocess.run(
        ["bash", str(ROOT / "packaging" / "torch.sh")], capture_output=True, text=True, check=False
    )
    if result.returncode:
        print(f"not measured: PyTorch could not be installed: {result.stderr.strip()[-300:]}")
        return False
    python = result.stdout.splitlines()[-1]
    case = _cifar(bench)
    settle(case)
    variants = {
        "PyTorch float32": partial(plain_torch, python, case, "float32"),
        "PyTorch bfloat16 channels-last": partial(plain_torch, python, case, "bfloat16"),
        "trainer": partial(trainer, case),
    }
    speeds = in_turns(variants, bench.rounds)
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    ours = medians.pop("trainer")
    bench.trainer_speeds[case.template] = ours
    for name, value in medians.items():
        print(f"cifar10_convnet: {name} {value:,.0f} images/s; trainer {ours / value:.2f} x")
    return True


def _peak(bench: Bench) -> bool:
    """(e): multiply-adds per second as a share of this machine's matrix-multiply peak."""
    peak = measured_peak()
    for name, value in peak.items():
        print(f"matrix product in {name}: {value / 1e9:,.0f} G multiply-adds/s")
    for case in bench.cases:
        speed = bench.trainer_speeds.get(case.template)
        if speed is None:
            settle(case)
            speed = statistics.median(trainer(case) for _ in range(bench.rounds))
        rate = speed * multiply_adds_per_image(case.project)
        shares = ", ".join(f"{100 * rate / value:.1f} % of {name}" for name, value in peak.items())
        print(f"{case.template}: {rate / 1e9:,.1f} G multiply-adds/s, {shares}", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
