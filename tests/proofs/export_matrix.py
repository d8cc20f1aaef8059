"""Every template, trained, and random networks in every export format: read back and compared.

`bash packaging/prove.sh export_matrix [--graphs 50] [--minutes 1.5] [--runs FOLDER] [--formats KEY ...]`

Each template is trained for so many minutes, or is taken from a folder of runs that have been;
random networks have random weights and images of colored noise. Each is exported in each format as
a ready folder by the service, as the window and the terminal do it: written by one process, read
back by the runtime of the format in another and compared on up to 500 test images. An export is
written, or refused with a reason: a layer that the format has not, or answers that differ. Ends with
1 where a template's float32 export differs, and where anything else than an error of Workbench's is
the answer. What is found is kept as lines of JSON in `--results`, where an interrupted proof goes on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import msgspec
import numpy as np

from tests.benchmarks._runs import own_home
from tests.proofs.coach import SHARED, local_project, train
from tests.strategies import random_valid_graph
from workbench.core.network.graph import Graph
from workbench.core.network.roles import input_nodes
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import graph_to_plain
from workbench.core.training.recipe import recipe_to_plain
from workbench.exports import run_exports
from workbench.layers import all_layers
from workbench.protocol.export import Export, Exported
from workbench.protocol.messages import Done, Failed
from workbench.protocol.service_call import ServiceCall
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.model_card import ModelCard, read_card, write_card
from workbench.runs.store.weights_file import write_arrays
from workbench.templates import list_templates

NUM_TRAIN, NUM_TEST = 200, 100
CHANNELS = (1, 3)
REPEATED_WORDS = 160


@dataclass(frozen=True)
class Subject:
    """A run to export.

    Attributes:
        name: Of the template, or the number of the random network.
        run: Its folder.
    """

    name: str
    run: RunFolder
    is_template: bool


# what is exported ----------------------------------------------------------------------------


def template_runs(minutes: float, folder: Path | None) -> Iterator[Subject]:
    """A trained run of each template."""
    there = {}
    for path in sorted(folder.glob("*/")) if folder is not None else ():
        there[read_card(path).title] = RunFolder(path)
    for template in list_templates():
        run = there.get(template.project.title)
        if folder is None:
            run = train(local_project(template.key, SHARED), minutes)
        if run is not None:
            yield Subject(template.key, run, is_template=True)


def random_runs(count: int, home: Path) -> Iterator[Subject]:
    """Runs of random networks with random weights, of those that take images of a data set."""
    graphs = ((n, random_valid_graph(random.Random(n), all_layers())) for n in itertools.count())
    fitting = ((n, graph) for n, graph in graphs if _input_shape(graph)[2] in CHANNELS)
    for number, graph in itertools.islice(fitting, count):
        yield Subject(f"network {number}", untrained_run(graph, home, number), is_template=False)


def _input_shape(graph: Graph) -> tuple[int, ...]:
    return tuple(input_nodes(graph, all_layers())[0].params["shape"])


def untrained_run(graph: Graph, home: Path, seed: int) -> RunFolder:
    """A run with random weights, and a data set of colored noise."""
    import keras

    from workbench.worker.model.build import build_model, read_weights

    built = build_model(graph, all_layers(), whole=True, pretrained=False, seed=seed)
    shape = _input_shape(graph)
    names = [f"class {number}" for number in range(int(built.model.output_shape[-1]))]
    file = home / f"noise{seed}.npz"
    _write_noise(file, shape, names, seed)
    source = Choice("npz", {"path": str(file)})
    project = Project(title=f"Network {seed}", graph=graph, dataset=source)
    run = create_run(project, home=home)
    card = ModelCard(
        title=project.title,
        class_names=names,
        input_shape=list(shape),
        fit="crop",
        graph=graph_to_plain(graph),
        is_logits=built.is_logits,
        dataset={"key": source.key, "params": dict(source.params)},
        dataset_title="Noise",
        recipe=recipe_to_plain(project.recipe),
        checksum=write_arrays(run.weights_path, read_weights(built)),
    )
    write_card(run.path, card)
    keras.backend.clear_session()
    return run


def _write_noise(file: Path, shape: Sequence[int], names: Sequence[str], seed: int) -> None:
    """Images of a color each, with noise: uint8 (n, *shape)."""
    rng = np.random.default_rng(seed)

    def part(count: int) -> tuple[Any, Any]:
        color = rng.uniform(0, 255, (count, 1, 1, shape[2]))
        noise = rng.normal(0, 40, (count, *shape))
        return np.clip(color + noise, 0, 255).astype(np.uint8), np.arange(count) % len(names)

    (x_train, y_train), (x_test, y_test) = part(NUM_TRAIN), part(NUM_TEST)
    np.savez(
        file,
        x_train=x_train,
        y_train=y_train,
        x_test=x_test,
        y_test=y_test,
        class_names=np.array(names),
    )


# exporting -----------------------------------------------------------------------------------


def export_all(subject: Subject, formats: Sequence[str], results: Results) -> None:
    """Exports a run in each format that is not among the results yet."""
    left = [key for key in formats if not results.has(subject.name, key)]
    if not left:
        return
    with ServiceCall() as call, tempfile.TemporaryDirectory() as place:
        for number, key in enumerate(left, start=1):
            began = time.monotonic()
            found = _export(call, number, subject, key, Path(place) / key)
            shutil.rmtree(Path(place) / key, ignore_errors=True)
            found |= {"seconds": round(time.monotonic() - began, 1)}
            results.add(
                {
                    "subject": subject.name,
                    "is_template": subject.is_template,
                    "format": key,
                    **found,
                }
            )


def _export(
    call: ServiceCall, number: int, subject: Subject, key: str, path: Path
) -> dict[str, Any]:
    request = Export(
        id=number, model=str(subject.run.path), format=key, path=str(path), is_ready_folder=True
    )
    proof: dict[str, Any] = {}
    for answer in call.answers(request):
        if isinstance(answer, Exported):
            proof = msgspec.to_builtins(answer.proof)
        elif isinstance(answer, Done):
            return {"state": "passed", **proof}
        elif isinstance(answer, Failed):
            error = answer.error
            return {
                "state": "refused",
                "kind": error.kind,
                "what": error.what,
                "where": error.where,
                "received": error.received[:REPEATED_WORDS],
            }
    return {"state": "broken"}


class Results:
    """Lines of a file, one for each export; of several threads."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        self.rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
        self._seen = {(row["subject"], row["format"]) for row in self.rows}

    def has(self, subject: str, key: str) -> bool:
        return (subject, key) in self._seen

    def add(self, row: dict[str, Any]) -> None:
        with self._lock:
            self.rows.append(row)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            words = row.get("what", f"{row.get('max_difference') or 0:.1e}")
            print(f"{row['subject']}, {row['format']}: {row['state']}: {words}", flush=True)


# what was found ------------------------------------------------------------------------------


def differs(row: dict[str, Any]) -> bool:
    """Whether an export was written, read back, and found to differ."""
    return row["state"] == "refused" and row["what"].startswith("The export was not written: a")


def is_failure(row: dict[str, Any]) -> bool:
    """Whether this must not be: a template whose float32 numbers differ, or an unknown error."""
    reader = run_exports()[row["format"]].reader
    is_exact = reader is not None and reader.is_exact
    known = row["state"] == "passed" or row.get("kind") in {"SaveError", "InputError"}
    return not known or (row["is_template"] and is_exact and row["state"] != "passed")


def summary(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for each format, as a table."""
    yield (
        "| format | templates | random networks | refused: layers | refused: differs "
        "| largest difference | least same class | accuracy lost, points |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    by_format = defaultdict(list)
    for row in rows:
        by_format[row["format"]].append(row)
    for key, some in by_format.items():
        yield _line(key, some)


def _line(key: str, rows: Sequence[dict[str, Any]]) -> str:
    passed = [row for row in rows if row["state"] == "passed"]
    templates = [row for row in rows if row["is_template"]]
    wrong = [row for row in rows if differs(row)]
    layers = Counter(
        row["where"].rpartition("_")[0] or row["what"]
        for row in rows
        if row["state"] != "passed" and not differs(row)
    )
    good = sum(row["state"] == "passed" for row in templates)
    cells = [
        key,
        f"{good} of {len(templates)}",
        f"{len(passed) - good} of {len(rows) - len(templates)}",
        ", ".join(f"{count} {name}" for name, count in layers.most_common()) or "0",
        str(len(wrong)),
        _worst(passed, "max_difference", "{:.1e}"),
        _least(passed),
        _accuracies(templates),
    ]
    return "| " + " | ".join(cells) + " |"


def _worst(rows: Sequence[dict[str, Any]], key: str, form: str) -> str:
    found = [row[key] for row in rows if row.get(key) is not None]
    return form.format(max(found)) if found else "–"


def _least(rows: Sequence[dict[str, Any]]) -> str:
    found = [row["top1_agreement"] for row in rows if row.get("checked_pictures")]
    return f"{100 * min(found):.1f}%" if found else "–"


def _accuracies(rows: Sequence[dict[str, Any]]) -> str:
    """The largest loss of accuracy of a template, in points."""
    found = [
        row["model_accuracy"] - row["accuracy"] for row in rows if row.get("accuracy") is not None
    ]
    return f"{100 * max(found):.2f}" if found else "–"


def main() -> int:
    """Returns 0 when each export is written or refused as it must be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=1.5)
    parser.add_argument("--runs", type=Path, help="a folder of trained runs of the templates")
    parser.add_argument("--no-templates", action="store_true")
    parser.add_argument("--formats", nargs="+", default=list(run_exports()))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("build/export_matrix.jsonl"))
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    results, began, home = Results(options.results), time.monotonic(), own_home()
    waiting: SimpleQueue[Subject] = SimpleQueue()
    for subject in random_runs(options.graphs, home):
        waiting.put(subject)
    if not options.no_templates:
        for subject in template_runs(options.minutes, options.runs):
            waiting.put(subject)

    def work() -> None:
        while True:
            try:
                subject = waiting.get_nowait()
            except Empty:
                return
            export_all(subject, options.formats, results)

    with ThreadPoolExecutor(options.jobs) as pool:
        for done in [pool.submit(work) for _ in range(options.jobs)]:
            done.result()
    shutil.rmtree(home, ignore_errors=True)
    failures = [row for row in results.rows if is_failure(row)]
    print(*summary(results.rows), sep="\n")
    for row in failures:
        print(f"FAILED: {row}", file=sys.stderr)
    print(
        f"export_matrix: {len(results.rows)} exports, {len(failures)} failures, "
        f"{time.monotonic() - began:,.0f} s"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
