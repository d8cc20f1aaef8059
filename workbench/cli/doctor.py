"""`workbench doctor`: what could keep a training from starting here, or on a target."""

from __future__ import annotations

import argparse

from workbench.checkup.doctor import examine, examine_far
from workbench.cli._options import add_json_option
from workbench.cli._output import print_json, print_text
from workbench.core.projects.project import HERE
from workbench.core.projects.texts import parse_target
from workbench.targets import all_targets

NAME = "doctor"
HELP = "check what would keep training from starting here, or on a target"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds TARGET, if it is another than this computer."""
    parser.add_argument(
        "target", metavar="TARGET", nargs="?", default=HERE.key, help="see `workbench targets`"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints a line per check; 1 when one of them has failed."""
    target = parse_target(arguments.target, all_targets())
    is_well = True
    for finding in examine(target, examine_far):
        is_well = is_well and finding.ok
        if arguments.json:
            print_json(finding.to_dict())
            continue
        mark = "ok" if finding.ok and not finding.is_missing else "–" if finding.ok else "no"
        print_text(f"{mark}  {finding.check:14} {finding.words}")
        if finding.fix:
            print_text(f"    {'':14} {finding.fix}")
    return 0 if is_well else 1
