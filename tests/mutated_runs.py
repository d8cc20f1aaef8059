"""Run folders with one file changed at random, and everything that shows a run: each answers, or
refuses in words.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.proofs.project_fuzz import mutate_text, mutate_value, places_in
from tests.written_runs import WrittenRun
from workbench.core.projects.project_file import graph_to_plain
from workbench.errors import WorkbenchError
from workbench.report.facts import read_facts
from workbench.report.page import page
from workbench.report.write import compose
from workbench.runs.folder import RunFolder
from workbench.runs.library.compare import compare_runs
from workbench.runs.library.index import INDEX_NAME, RunSummary, list_runs
from workbench.runs.library.projects import rival_of
from workbench.runs.log.coaching import advice_lines, advice_on
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.notes import change_notes
from workbench.runs.store.weights_file import write_arrays
from workbench.templates import find_template

CHANGED, OTHER = "changed", "other"
FILES = (
    "request.json", "events.jsonl", "model.json", "evaluation.json", "robustness.json", "notes.json",
    "origin.json", "link.json", "remote.json", "target.json", "extensions.json", "waiting",
    "exports.json", "confusions.bin", "image_scores.npz", "class_scores.npz", "image_map.npz",
    "references.npz", "worker.lock",
)  # fmt: skip
_ALONE = ("request.json", "events.jsonl", "model.json")
"""What everything else is read beside: changed alone."""

_NUMBERS = (0, -1, 0.5, 1e15, 1e300, -1e300, 2**31, 2**53, 2**63 - 1, -(2**63), 10**30, 10**400)

_TOGETHER = 10
"""So many of the others are changed in one run: each has readers of its own."""

MADE = b'{"state": "lost", "key": "ssh", "params": {}, "target": {"key": "ssh"}, "host": "h"}'
"""What is changed of a file that the run does not have."""


def written_base(place: Path) -> Path:
    """A finished run of a small network, with a model card, without training anything."""
    project = find_template("fashion_convnet").project
    written = WrittenRun("base", home=place, project=project).begin().train(3).kept().finish()
    graph = graph_to_plain(project.graph)
    write_arrays(written.folder.weights_path, {"conv_1/kernel": np.zeros((3, 3, 1, 8), np.float32)})
    names = [f"class {number}" for number in range(10)]
    card = ModelCard(class_names=names, input_shape=[28, 28, 1], fit="crop", graph=graph)
    write_card(written.path, card)
    change_notes(written.folder, title="t", text="n", add_tags=["tag"])
    written.path.rename(place / OTHER)
    shutil.copytree(place / OTHER, place.parent / "base")
    return place.parent / "base"


def changed_names(seed: int) -> list[str]:
    """The files of a run that a seed changes: request, log or card alone, or a few others."""
    rng = random.Random(-seed)
    if rng.random() < 1 / 3:
        return [rng.choice(_ALONE)]
    return rng.sample([name for name in FILES if name not in _ALONE], _TOGETHER)


def mutated(home: Path, base: Path, seeds: Iterable[int]) -> Iterator[tuple[int, list[str]]]:
    """Keeps a copy of a run in a folder of runs, beside one as it was, and changes files of it for
    each seed: seed and names, once they are changed.
    """
    run, index = home / CHANGED, home / INDEX_NAME
    shutil.rmtree(run, ignore_errors=True)
    list_runs(home)
    others = index.read_bytes()  # the other run is read from there, as nothing of it changes
    shutil.copytree(base, run)
    whole = {name: (base / name).read_bytes() for name in FILES if (base / name).is_file()}
    for seed in seeds:
        rng, names = random.Random(seed), changed_names(seed)
        for name in names:
            (run / name).write_bytes(changed_bytes(whole.get(name, MADE), name, rng))
        index.write_bytes(others)
        yield seed, names
        for name in names:
            if name in whole:
                (run / name).write_bytes(whole[name])
            else:
                (run / name).unlink()


def changed_bytes(data: bytes, name: str, rng: random.Random) -> bytes:
    """A file of a run with bits, values, keys, types or its length changed."""
    if name.endswith((".bin", ".npz")) or rng.random() < 0.2:
        return _with_other_bytes(data, rng)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _with_other_bytes(data, rng)
    lines = text.split("\n") if name.endswith(".jsonl") else [text]
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(lines))
        lines[at] = _other_json(lines[at], rng)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _other_json(text: str, rng: random.Random) -> str:
    if rng.random() < 0.8:
        try:
            plain = json.loads(text)
        except (ValueError, RecursionError):
            return mutate_text(text, rng)
        if isinstance(plain, dict | list) and plain:
            if rng.random() < 0.4:
                _change_number(plain, rng)
            else:
                mutate_value(plain, rng)
            return json.dumps(plain)
    return mutate_text(text, rng)


def _change_number(plain: Any, rng: random.Random) -> None:
    """Gives a number of a JSON value another one, in a field of its own most often: a time, a count."""
    own, inner = [], []
    for container, key in places_in(plain):
        if isinstance(container[key], int | float):
            (own if container is plain else inner).append((container, key))
    found = own if own and (not inner or rng.random() < 0.7) else inner
    if found:
        container, key = rng.choice(found)
        container[key] = rng.choice(_NUMBERS)


def _with_other_bytes(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 4, 20))):
        at = rng.randrange(len(changed) + 1)
        match rng.randrange(4):
            case 0 if at < len(changed):
                changed[at] ^= 1 << rng.randrange(8)
            case 1:
                del changed[at : at + rng.randrange(1, 40)]
            case 2:
                changed[at:at] = rng.randbytes(rng.randrange(1, 20))
            case _ if rng.random() < 0.3:
                del changed[at:]
    return bytes(changed)


def doors(home: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """What shows runs, by name; the list must have both."""
    changed, other = RunFolder(home / CHANGED), RunFolder(home / OTHER)
    listed: list[RunSummary] = []
    yield "list", lambda: listed.extend(_listed(home))
    yield "compare", lambda: compare_runs(changed, other).to_dict()
    yield "compare back", lambda: compare_runs(other, changed).to_dict()
    yield (
        "coach",
        lambda: list(map(advice_lines, advice_on(changed, rival_of(changed.path, listed)))),
    )
    yield "report", lambda: page(compose(read_facts(changed)))


def _listed(home: Path) -> list[RunSummary]:
    runs = list_runs(home)
    if {run.name for run in runs} != {CHANGED, OTHER}:
        raise AssertionError(f"the list has {[run.name for run in runs]}")
    for run in runs:
        json.dumps(str(run))
    return runs


def outcome_of_door(door: Callable[[], object]) -> WorkbenchError | None:
    """What it refuses; None where it answers. Anything else it raises is a fault."""
    try:
        door()
    except WorkbenchError as error:
        str(error).encode()
        return error
    return None
