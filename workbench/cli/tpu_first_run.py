"""`workbench tpu-first-run`: walks the checklist of the first run on a TPU, and writes a report."""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

import workbench
from workbench.checkup.tpu_first_run import LEVELS, FirstRun, Step
from workbench.cli._options import add_json_option
from workbench.cli._output import print_json, print_line, print_text
from workbench.core.outside_text import one_line
from workbench.core.projects.texts import parse_target, target_text
from workbench.core.storage.save import save_bytes
from workbench.hardware.tpu_host import TpuHost
from workbench.targets import all_targets
from workbench.targets.tpu import SPEC as TPU

NAME = "tpu-first-run"
HELP = "run the checklist for the first run on a TPU, or rehearse it on this computer"

_POLL_S = 0.05


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the target and the report's file."""
    parser.add_argument(
        "--target",
        metavar="TARGET",
        default=default_target(),
        help="see `workbench targets`; default %(default)s",
    )
    parser.add_argument(
        "--report", metavar="FILE", type=Path, required=True, help="report file: .md or .json"
    )
    add_json_option(parser)


def default_target() -> str:
    """The TPU of this computer; without one, replicas that keep to its rules."""
    return "tpu:local" if TpuHost().chips() else "virtual:2,like_tpu"


def run(arguments: argparse.Namespace) -> int:
    """Runs all steps, printing each; 1 when one of them has failed."""
    target = parse_target(arguments.target, all_targets())
    steps: list[Step] = []
    if not arguments.json:
        levels = "; ".join(f"{level}: {words}" for level, words in LEVELS.items())
        print_text(f"Levels of evidence: {levels}")
    with tempfile.TemporaryDirectory(prefix="workbench-first-run-") as folder:
        walk = FirstRun(target, Path(folder), lambda: time.sleep(_POLL_S)).walk()
        for step in walk:
            steps.append(step)
            if arguments.json:
                print_json(step.to_dict())
            else:
                print_text(f"{_mark(step)}  {step.level}  {step.name}: {step.result}")
    report = _report(target_text(target, all_targets()), steps)
    is_json = arguments.report.suffix == ".json"
    text = msgspec.json.format(msgspec.json.encode(report), indent=1) if is_json else None
    save_bytes(arguments.report.absolute(), text or _markdown(report, steps).encode())
    if not arguments.json:
        print_line(f"Report: {arguments.report}")
    return 0 if report["ok"] else 1


def _mark(step: Step) -> str:
    return "ok" if step.ok else "no" if step.ok is False else "  "


def _report(target: str, steps: Sequence[Step]) -> dict[str, Any]:
    return {
        "target": target,
        "has_tpu": bool(TpuHost().chips()),
        "when": time.strftime("%Y-%m-%d %H:%M:%S"),
        "workbench": workbench.__version__,
        "python": platform.python_version(),
        "ok": all(step.ok is not False for step in steps),
        "steps": [step.to_dict() for step in steps],
    }


def _markdown(report: dict[str, Any], steps: Sequence[Step]) -> str:
    kind = "on a TPU" if report["target"].startswith(TPU.key) else "rehearsal, not on a TPU"
    lines = [
        f"# First run: {report['target']} ({kind})",
        f"{report['when']}, Workbench {report['workbench']}, Python {report['python']}",
        "| Step | Level | Ran | Result | Seconds |\n| --- | --- | --- | --- | --- |",
    ]
    for step in steps:
        ran = "no" if not step.ran else "well" if step.ok else "FAILED"
        result = one_line(step.result).replace("|", "/").replace("\n", " ")
        lines[-1] += f"\n| {step.name} | {step.level} | {ran} | {result} | {step.seconds:.1f} |"
    return "\n\n".join(lines) + "\n"
