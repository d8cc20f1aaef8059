"""`workbench targets`: what can train here, what the environment names, and the computers that
were connected before.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import Any

from workbench.checkup.doctor import OfferedTarget, offered_targets
from workbench.cli._options import add_json_option
from workbench.cli._output import print_json, print_text
from workbench.core.format import plural
from workbench.core.projects.texts import target_text
from workbench.remote.ssh.saved_hosts import choice_of, saved_hosts
from workbench.targets import all_targets

NAME = "targets"
HELP = "list the targets that can train"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --json alone."""
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints what there is, with what keeps it from training."""
    targets = (*offered_targets(os.environ), *_saved())
    if arguments.json:
        for offered in targets:
            print_json(_plain(offered))
    else:
        _print([each for each in targets if not _is_example(each)])
        forms = [each.spec.form for each in targets if _is_example(each)]
        print_text("With addresses: " + "; ".join(forms))
    return 0


def _is_example(offered: OfferedTarget) -> bool:
    """Whether a target is offered without addresses, which are chosen when a run starts there."""
    spec, params = offered.spec, offered.choice.params
    return not offered.why and bool(spec.is_remote(params) or spec.machines(params))


def _saved() -> Iterator[OfferedTarget]:
    for host in saved_hosts():
        choice = choice_of(host)
        why = f"connected before: {host.words}" if host.words else "saved by `workbench host add`"
        yield OfferedTarget(all_targets()[choice.key], choice, why, host.name)


def _plain(offered: OfferedTarget) -> dict[str, Any]:
    spec, params = offered.spec, offered.choice.params
    problem = spec.probe(params)
    return {
        "key": spec.key,
        "text": target_text(offered.choice, all_targets()),
        "name": offered.name,
        "title": spec.title,
        "description": spec.describe(params),
        "replicas": spec.replicas(params),
        "is_remote": spec.is_remote(params),
        "is_ready": problem is None,
        "problem": problem.to_dict() if problem is not None else None,
        "found_by": offered.why,
    }


def _print(targets: list[OfferedTarget]) -> None:
    """Prints two lines a target: its name, which is not broken, and its state; then what it is."""
    lines = [_plain(offered) for offered in targets]
    width = max(len(line["text"]) for line in lines)
    for line in lines:
        state = "ready" if line["is_ready"] else line["problem"]["what"]
        title = line["title"]
        words = [line["name"], line["description"]] if line["name"] else [line["description"]]
        words += [plural(line["replicas"], "replica")] if line["replicas"] > 1 else []
        words += [line["found_by"]] if line["found_by"] else []
        print_text(f"{line['text']:{width}}  {state}")
        print_text(f"{'':{width}}  {title}: {'; '.join(words)}")
