"""`workbench bundle`: a project, its runs and its images in one file that opens elsewhere."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._options import add_force, add_json_option, add_project, refuse_existing
from workbench.cli._output import print_json, print_line
from workbench.moving.bundle import BUNDLE_SUFFIX, plan_bundle, write_bundle

NAME = "bundle"
HELP = "write a project, its runs and its images into one file, to be opened on another computer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds PROJECT, OUT, --no-runs, --dry-run, --force, --json."""
    add_project(parser)
    parser.add_argument(
        "out", metavar="OUT", type=Path, help=f"file to write, such as flowers{BUNDLE_SUFFIX}"
    )
    parser.add_argument("--no-runs", action="store_true", help="leave out its runs")
    parser.add_argument("--dry-run", action="store_true", help="say what it would hold")
    add_force(parser, "OUT")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes OUT, whole or not at all."""
    plan = plan_bundle(arguments.project, has_runs=not arguments.no_runs)
    if not arguments.dry_run:
        refuse_existing(arguments.out, force=arguments.force)
        if not arguments.json:
            print_line(f"Writing {plan.words()}")
        write_bundle(plan, arguments.out)
    if arguments.json:
        print_json(
            {
                "bundle": str(arguments.out),
                "bytes": plan.num_bytes,
                "images": plan.num_images,
                "runs": plan.facts.runs,
                "remarks": plan.remarks,
            }
        )
    else:
        print_line(plan.words() if arguments.dry_run else f"Wrote {arguments.out}.")
    return 0
