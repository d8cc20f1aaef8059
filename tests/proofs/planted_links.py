"""Plants links where the program writes, and counts what changes outside: it must be nothing.

`python -m tests.proofs.planted_links [--light] [--only WORDS]` tries each place with each action
of command line, trainer, mirror and window, in a process of its own, and prints a table; it ends
with 1 when any file or folder outside has changed.
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
from pathlib import Path

import numpy as np
from PIL import Image

from tests.planted import RUN, Sandbox, changes, places, plant, state_of
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


def groups_for(place: str, *, is_light: bool) -> Iterator[tuple[str, bool]]:
    """Those whose writes a link at a place could lead astray, and whether it leads to nothing."""
    if place.startswith("EXPORTS/"):
        names = ["light", "export"]
    elif place.startswith("PROJECTS/"):
        names = ["light", "train", "window"]
    else:
        names = [name for name in GROUPS if name != "export"]
    for name in names:
        if name in LIGHT:
            yield from ((name, False), (name, True))
        elif not is_light:
            yield name, False


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


def try_group(
    sandbox: Sandbox, group: str, place: str, *, is_dangling: bool
) -> Iterator[dict[str, object]]:
    """Does the actions of a group in a sandbox, after each what has changed outside by it."""
    set_home(sandbox)
    if group in QUEUED:
        enqueue(RunFolder(sandbox.run), resume=True)
    plant(sandbox, place, is_dangling=is_dangling)
    before = state_of(sandbox.outside)
    for name, action in GROUPS[group].items():
        said = action(sandbox)
        yield {"action": name, "changed": changes(before, sandbox.outside), "said": said[-400:]}
        before = state_of(sandbox.outside)


def _in_child(base: Sandbox, words: list[str]) -> list[dict[str, object]]:
    """A case in a process of its own; what came of it."""
    with tempfile.TemporaryDirectory(prefix="workbench-planted-") as folder:
        case = base.copied_to(Path(folder) / "case")
        line = [sys.executable, "-m", "tests.proofs.planted_links", "--case", str(case.root)]
        done = subprocess.run(
            [*line, *words], capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    found = [json.loads(text) for text in done.stdout.splitlines() if text.startswith('{"action"')]
    if len(found) < len(GROUPS[words[0]]):
        found.append({"action": "died", "changed": ["?"], "said": done.stderr[-800:]})
    return found


def _case(words: list[str]) -> int:
    root, group, place, *options = words
    is_dangling = "--dangling" in options
    for result in try_group(Sandbox(Path(root)), group, place, is_dangling=is_dangling):
        print(json.dumps(result), flush=True)
    return 0


def main(words: list[str]) -> int:
    """Runs the cases and prints the table."""
    if words[:1] == ["--case"]:
        return _case(words[1:])
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
        for place in places():
            tried = [
                (group, is_dangling, result)
                for group, is_dangling in groups_for(place, is_light=options.light)
                if options.only in f"{place} {group}"
                for result in _in_child(base, [group, place, *["--dangling"] * is_dangling])
            ]
            if not tried:
                continue
            num_tried += len(tried)
            bad = [f"{place}: {result}" for _, _, result in tried if result["changed"]]
            broken += bad
            by_group = Counter(group for group, _, _ in tried)
            words_of = ", ".join(f"{group} {count}" for group, count in by_group.items())
            print(f"{place:46} {len(bad):3} changed outside; tried: {words_of}", flush=True)
            if options.verbose:
                print("\n".join(f"    {one}" for one in tried))
    print("\n".join(broken))
    print(
        f"{num_tried:,} actions, {time.monotonic() - started:,.0f} s: "
        f"{len(broken)} changed something outside"
    )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
