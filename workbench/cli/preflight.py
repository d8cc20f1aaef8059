"""`workbench preflight`: will this project train on such a TPU? Checked without a TPU."""

from __future__ import annotations

import argparse

from workbench.cli._options import add_json_option, add_project, recipe_value
from workbench.cli._output import print_json, print_line, print_text
from workbench.cli._service import ask
from workbench.core.format import bytes_text
from workbench.core.projects.project_file import project_text, read_project
from workbench.hardware.tpu_chips import chip_choice
from workbench.protocol.preflight import (
    ESTIMATE_WORDS,
    LEVELS,
    Preflight,
    PreflightDone,
    PreflightPoint,
    PreflightReport,
    PreflightStage,
    SweepPoint,
)

NAME = "preflight"
HELP = "check whether a project trains on a TPU (no TPU needed)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds PROJECT, --tpu, --batch, --level, --sweep, --json."""
    add_project(parser)
    parser.add_argument(
        "--tpu", metavar="TPU", required=True, help="v2, v3, v4, v5e, v5p, v6e; with a size: v5e-8"
    )
    parser.add_argument(
        "--batch",
        type=recipe_value("batch_size"),
        metavar="N",
        help="images per step over all cores",
    )
    parser.add_argument(
        "--level", choices=LEVELS, default=LEVELS[-1], help="deepest level of the check"
    )
    parser.add_argument("--sweep", action="store_true", help="try batches of 8 to 1024 per core")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the report; 1 when it has problems."""
    chip_choice(arguments.tpu)
    request = Preflight(
        id=1,
        project=project_text(read_project(arguments.project)),
        tpu=arguments.tpu,
        batch=arguments.batch or 0,
        level=arguments.level,
        sweep=arguments.sweep,
    )
    is_ok = False
    for answer in ask(request, is_quiet=arguments.json):
        match answer:
            case PreflightDone(report=report):
                is_ok = report.ok
                if arguments.json:
                    print_json(report)
                else:
                    _print_report(report)
            case PreflightStage() if not arguments.json:
                print_line(f"{answer.level}: {answer.state}. {answer.words}".rstrip())
            case PreflightPoint() if not arguments.json:
                print_line(_point_words(answer.point))
    return 0 if is_ok else 1


def _point_words(point: SweepPoint) -> str:
    words = f"{point.per_core_batch:>7,} per core {point.global_batch:>9,} total"
    if point.memory is not None:
        words += f" {bytes_text(point.memory.needs_bytes):>9}"
    if point.estimate is None:
        return f"{words}  {point.problem}"
    return (
        f"{words} {point.estimate.step_ms:>9,.2f} ms "
        f"{point.estimate.images_per_second:>12,.0f} images/s, "
        f"{point.estimate.bound}-bound"
    )


def _print_report(report: PreflightReport) -> None:
    print_text(report.verdict)
    if report.estimate is not None:
        print_text(
            f"About {report.estimate.step_ms:,.2f} ms per step, "
            f"{report.estimate.images_per_second:,.0f} images/s, "
            f"{report.estimate.bound}-bound ({ESTIMATE_WORDS})."
        )
    if report.largest:
        print_text("Largest buffers per core:")
        for buffer in report.largest:
            print_text(f"{bytes_text(buffer.bytes):>10}  {buffer.words}")
    if report.sweep:
        print_text(f"Batches ({ESTIMATE_WORDS}):")
        for point in report.sweep:
            print_text(_point_words(point))
    if report.suggested_batch:
        print_text(f"Suggested batch: {report.suggested_batch:,}")
    for problem in report.problems:
        print_line(f"{problem.severity}: {problem.title}. {problem.message}")
        for fix in problem.fixes:
            print_line(f"    fix: {fix.title}")
