"""Plants links where the program writes, and counts what changes outside: it must be nothing.

`python -m tests.proofs.planted_links [--light] [--only WORDS]` tries each place with each action
of the command line and of a mirror, and places together with trainer, service and window; each
case in a process of its own. It prints a table, and ends with 1 when anything outside has changed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tests.planted import RUN, Sandbox, changes, places, plant, state_of, together
from tests.proofs._planted_actions import GROUPS, LIGHT, QUEUED, command, set_home
from tests.proofs._tiny_runs import tiny_project, wait_for_end, write_stripes
from workbench.core.projects.project_file import save_project
from workbench.protocol.events import CheckpointKept
from workbench.runs.control import request_pause
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.event_log import read_all
from workbench.runs.start import start_trainer
from workbench.runs.state.queue import enqueue

_PATIENCE_S = 1_800.0


def cases(*, is_light: bool) -> Iterator[Case]:
    """Each place with the light groups, to a file and to nothing; then places together with all."""
    for place in places():
        for group in LIGHT:
            if group == "light" or not place.startswith(("EXPORTS/", "PROJECTS/")):
                yield Case(place, group, (place,), is_dangling=False)
                yield Case(place, group, (place,), is_dangling=True)
    if is_light:
        return
    for name, planted in together().items():
        for group in _heavy_groups(planted):
            yield Case(f"together: {name}", group, planted, is_dangling=False)


def _heavy_groups(planted: tuple[str, ...]) -> tuple[str, ...]:
    """Those whose writes links at these places could lead astray."""
    first = planted[0]
    if first.startswith("EXPORTS/"):
        return ("export",)
    if first.startswith(("RUN/", "(")):
        return ("resume", "turn", "window")
    return ("train", "window")


@dataclass(frozen=True)
class Case:
    """Links at some places, to files (or to nothing), and the group of actions done then."""

    name: str
    group: str
    places: tuple[str, ...]
    is_dangling: bool


def prepare(sandbox: Sandbox) -> None:
    """A paused run with checkpoint and weights, a project, and what is outside."""
    for folder in (sandbox.projects, sandbox.exports, sandbox.root / "user" / "share"):
        folder.mkdir(parents=True)
    data = write_stripes(sandbox.projects / "data.npz")
    picture = np.full((12, 12), 90, np.uint8)
    Image.fromarray(picture).save(sandbox.projects / "picture.png")
    save_project(tiny_project(data, epochs=1), sandbox.projects / "p.workbench")
    run = create_run(tiny_project(data, epochs=40), path=sandbox.home / "runs" / RUN)
    start_trainer(run)
    deadline = time.monotonic() + _PATIENCE_S
    while not (run.has_model() and any(map(_is_kept, read_all(run.events_path)))):
        if time.monotonic() > deadline:
            raise TimeoutError(str(run.path))
        time.sleep(0.1)
    request_pause(run)
    wait_for_end(run)
    shutil.copytree(run.path, sandbox.root / "far" / "runs" / RUN)
    command("export", "RUN", "keras", "PROJECTS/model.keras")(sandbox)
    sandbox.fill_outside()


def _is_kept(event: object) -> bool:
    return isinstance(event, CheckpointKept) and event.problem is None


def try_group(sandbox: Sandbox, case: Case) -> Iterator[dict[str, Any]]:
    """Does the actions of a group in a sandbox, after each what has changed outside by it."""
    set_home(sandbox)
    if case.group in QUEUED:
        enqueue(RunFolder(sandbox.run), resume=True)
    for place in case.places:
        plant(sandbox, place, is_dangling=case.is_dangling)
    before = state_of(sandbox.outside)
    for name, action in GROUPS[case.group].items():
        said = action(sandbox)
        yield {"action": name, "changed": changes(before, sandbox.outside), "said": said[-400:]}
        before = state_of(sandbox.outside)


def _in_child(base: Sandbox, case: Case) -> list[dict[str, Any]]:
    """A case in a process of its own; what came of it."""
    with tempfile.TemporaryDirectory(prefix="workbench-planted-") as folder:
        copy = base.copied_to(Path(folder) / "case")
        plain = json.dumps([str(copy.root), asdict(case)])
        done = subprocess.run(
            [sys.executable, "-m", "tests.proofs.planted_links", "--case", plain],
            capture_output=True, text=True, timeout=_PATIENCE_S, check=False,
        )  # fmt: skip
    found = [json.loads(text) for text in done.stdout.splitlines() if text.startswith('{"action"')]
    if len(found) < len(GROUPS[case.group]):
        found.append({"action": "died", "changed": ["?"], "said": done.stderr[-800:]})
    return found


def _case(text: str) -> int:
    root, values = json.loads(text)
    for result in try_group(Sandbox(Path(root)), Case(**values)):
        print(json.dumps(result), flush=True)
    return 0


def main(words: list[str]) -> int:
    """Runs the cases and prints the table."""
    if words[:1] == ["--case"]:
        return _case(words[1])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--light", action="store_true", help="no trainer, no window")
    parser.add_argument("--only", default="", help="only places and groups with these words")
    parser.add_argument("--verbose", action="store_true", help="print what each action reported")
    options = parser.parse_args(words)
    started = time.monotonic()
    num_tried, broken = 0, []
    with tempfile.TemporaryDirectory(prefix="workbench-planted-") as folder:
        base = Sandbox(Path(folder) / "base")
        set_home(base)
        prepare(base)
        for name, group in groupby(cases(is_light=options.light), key=lambda case: case.name):
            chosen = [case for case in group if options.only in f"{name} {case.group}"]
            tried = [(case, result) for case in chosen for result in _in_child(base, case)]
            bad = [f"{case}: {result}" for case, result in tried if result["changed"]]
            num_tried, broken = num_tried + len(tried), broken + bad
            if tried:
                _print_row(name, tried, len(bad), is_verbose=options.verbose)
    print("\n".join(broken))
    seconds = time.monotonic() - started
    print(f"{num_tried:,} actions, {seconds:,.0f} s: {len(broken)} changed something outside")
    return 1 if broken else 0


def _print_row(
    name: str, tried: list[tuple[Case, dict[str, Any]]], num_bad: int, *, is_verbose: bool
) -> None:
    by_group = Counter(case.group for case, _ in tried)
    words = ", ".join(f"{group} {count}" for group, count in by_group.items())
    print(f"{name:52} {num_bad:3} changed outside; tried: {words}", flush=True)
    if is_verbose:
        for case, result in tried:
            print(f"    {case.group} {result}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
