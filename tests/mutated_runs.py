"""Run folders with one file changed at random, and everything that shows a run: each answers, or
refuses in words.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from tests.proofs.project_fuzz import mutate_text, mutate_value
from tests.written_runs import WrittenRun
from workbench.core.projects.project_file import graph_to_plain
from workbench.errors import WorkbenchError
from workbench.report.compose import compose
from workbench.report.facts import read_facts
from workbench.report.page import page
from workbench.runs.folder import RunFolder
from workbench.runs.library.compare import compare_runs
from workbench.runs.library.index import list_runs
from workbench.runs.library.rival import rival_of
from workbench.runs.log.coaching import advice_lines, advice_on
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.notes import change_notes
from workbench.runs.store.weights_file import write_arrays
from workbench.templates import find_template

CHANGED, OTHER = "changed", "other"
FILES = (
    "request.json", "events.jsonl", "model.json", "evaluation.json", "robustness.json", "notes.json",
    "origin.json", "link.json", "remote.json", "target.json", "extensions.json", "waiting",
    "exports.json", "confusions.bin", "image_scores.npz", "references.npz", "worker.lock",
)  # fmt: skip
_OFTEN = ("request.json", "events.jsonl", "events.jsonl", "model.json", "evaluation.json")
_MADE = b'{"state": "lost", "key": "ssh", "params": {}, "target": {"key": "ssh"}, "host": "h"}'


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


def mutated(home: Path, base: Path, seed: int) -> str:
    """Puts a run with one file changed in a folder of runs, beside one as it was; its name."""
    rng = random.Random(seed)
    run = home / CHANGED
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(base, run)
    name = rng.choice((*FILES, *_OFTEN))
    path = run / name
    data = path.read_bytes() if path.is_file() else _MADE
    path.write_bytes(_changed(data, name, rng))
    (home / ".runs-index").unlink(missing_ok=True)
    return name


def _changed(data: bytes, name: str, rng: random.Random) -> bytes:
    if name.endswith((".bin", ".npz")) or rng.random() < 0.2:
        return _with_other_bytes(data, rng)
    lines = data.decode().split("\n") if name.endswith(".jsonl") else [data.decode()]
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(lines))
        lines[at] = _other_json(lines[at], rng)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _other_json(text: str, rng: random.Random) -> str:
    if rng.random() < 0.8:
        try:
            plain = json.loads(text)
        except ValueError:
            return mutate_text(text, rng)
        if isinstance(plain, dict | list) and plain:
            mutate_value(plain, rng)
            return json.dumps(plain)
    return mutate_text(text, rng)


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
    yield "list", lambda: _listed(home)
    yield "compare", lambda: compare_runs(changed, other).to_dict()
    yield "compare back", lambda: compare_runs(other, changed).to_dict()
    yield (
        "coach",
        lambda: list(map(advice_lines, advice_on(changed, rival_of(changed.path, _listed(home))))),
    )
    yield "report", lambda: page(compose(read_facts(changed)))


def _listed(home: Path) -> list[object]:
    runs = list_runs(home)
    if {run.name for run in runs} != {CHANGED, OTHER}:
        raise AssertionError(f"the list has {[run.name for run in runs]}")
    for run in runs:
        json.dumps(str(run))
    return list(runs)


def outcome_of_door(door: Callable[[], object]) -> WorkbenchError | None:
    """What it refuses; None where it answers. Anything else it raises is a fault."""
    try:
        door()
    except WorkbenchError as error:
        str(error).encode()
        return error
    return None
