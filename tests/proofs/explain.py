"""Heat maps of any network, and whether what they show as hot matters to the network.

`python -m tests.proofs.explain [--graphs 200] [--photos 400] [--only graphs,photos]` needs the photos
of ../shared/data/flowers. Three networks are trained by the commands a user types: a head on each of
two pretrained ones, and one from scratch. On each correctly classified test photo the hottest tenth of
the map of the predicted class is grayed out, and a tenth of the same shape elsewhere: the first must
lower the probability more on 85% of the photos. It ends with 1 where something fails.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np

from tests.explained import Grayed, random_correlation
from tests.proofs._commands import events_of, workbench
from tests.strategies import random_valid_graph
from tests.worker.explain.test_maps import runner_of
from workbench.layers import all_layers
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.pictures.thumbnails import decode_reduced
from workbench.runs.folder import RunFolder
from workbench.runs.store.evaluation import known_scores, read_image_scores
from workbench.worker.explain import explainer_of
from workbench.worker.saved_models.keras_runner import KerasRunner, load_keras_runner

FLOWERS = Path(__file__).resolve().parents[3] / "shared" / "data" / "flowers"

LEAST_SHARE = 0.85
MOST_CORRELATION = 0.3
"""Mean of the absolute rank correlations with maps of random weights, at most."""
CHECKED = 40
"""Photos that are explained with random weights, too."""
SIDE, EPOCHS = 64, 25
"""Of the network from scratch: a quarter of the usual side, so that it is trained in minutes."""

Line = tuple[bool, str]


def main(words: list[str] | None = None) -> int:
    """Prints a line for each part; 1 where one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--photos", type=int, default=400, help="most test photos of each network")
    parser.add_argument("--only", default="graphs,photos")
    arguments = parser.parse_args(words)
    if not FLOWERS.is_dir():
        print(f"{FLOWERS} is not there.")
        return 2
    parts = {
        "photos": lambda: on_photos(arguments.photos),
        "graphs": lambda: on_graphs(arguments.graphs),
    }
    is_good = True
    for name in arguments.only.split(","):
        for is_right, text in parts[name]():
            print(f"{'ok  ' if is_right else 'FAIL'} {text}", flush=True)
            is_good = is_good and is_right
    return 0 if is_good else 1


def on_graphs(count: int) -> Iterator[Line]:
    """Random networks: each method gives a map of the right form."""
    started, bad, empty, gradients = time.monotonic(), [], 0, 0
    for seed in range(count):
        try:
            graph = random_valid_graph(random.Random(f"explain {seed}"), all_layers())
            runner = runner_of(graph, seed=seed)
            shape, classes = runner.built.input_shape, len(runner.card.class_names)
            images = np.random.default_rng(seed).integers(0, 256, (2, *shape)).astype(np.uint8)
            found = explainer_of(runner).explain(images, np.array([0, classes - 1]))
            assert found.heat.shape == (2, *shape[:2])
            assert np.isfinite(found.heat).all()
            assert set(found.heat.max(axis=(1, 2)).round(4).tolist()) <= {0.0, 1.0}
            empty += int((found.heat.max(axis=(1, 2)) == 0).sum())
            gradients += found.method == "gradients"
        except Exception as error:  # noqa: BLE001 - all of them are counted and named
            traceback.print_exc()
            bad.append(f"{seed}: {error!r}")
    yield (
        not bad,
        f"{count} random networks, two images each: {len(bad)} errors, {empty} empty maps, "
        f"{gradients} networks without a convolution explained by gradients, "
        f"{time.monotonic() - started:.0f} s" + "".join(f"\n     {each}" for each in bad),
    )


def on_photos(most: int) -> Iterator[Line]:
    """Networks trained on the flowers: their own test photos."""
    with tempfile.TemporaryDirectory() as home:
        for name, run in trained(home):
            yield from explained(name, run, most)


def trained(home: str) -> Iterator[tuple[str, Path]]:
    """Names and runs of three networks."""
    data = f"folder:{FLOWERS}"
    for name in ("mobilenet", "efficientnet_lite0"):
        project = str(Path(home) / f"{name}.workbench")
        workbench(home, "new", "--from", data, project, "--backbone", name)
        yield name, run_of(home, project, "--data", data)
    project = Path(home) / "scratch.workbench"
    workbench(home, "new", "flowers_gap", str(project))
    value = json.loads(project.read_text())
    (start,) = [node for node in value["graph"]["nodes"] if node["kind"] == "input"]
    start["params"]["shape"] = [SIDE, SIDE, 3]
    project.write_text(json.dumps(value))
    workbench(home, "set", str(project), f"epochs={EPOCHS}")
    name = f"flowers_gap from scratch at {SIDE} × {SIDE}"
    yield name, run_of(home, str(project), "--data", data)


def run_of(home: str, project: str, *options: str) -> Path:
    """Trains a project; its run folder."""
    events = events_of(home, "train", project, *options)
    (started,) = [event for event in events if event["event"] == "run_started"]
    return Path(home) / "home" / "runs" / started["run"]


def explained(name: str, run: Path, most: int) -> Iterator[Line]:
    """The two figures of one network."""
    runner = load_keras_runner(run)
    explainer, rng = explainer_of(runner), np.random.default_rng(0)
    grayed, correlations, seconds = Grayed(), [], []
    for image, number in right_photos(runner, run, most):
        begun = time.perf_counter()
        heat = explainer.explain(image[None], np.array([number])).heat[0]
        seconds.append(time.perf_counter() - begun)
        grayed.add(runner, image, number, heat, rng)
        if len(correlations) < CHECKED:
            value = random_correlation(explainer, runner, image, number)
            correlations += [] if value is None else [abs(value)]
    counts = (
        f"{name}: on {grayed.share:.1%} of {grayed.count} test photos the hottest tenth counts more; "
        f"it lowers the probability by {grayed.hot / grayed.count:.3f}, another tenth by "
        f"{grayed.other / grayed.count:.3f}; median {1000 * np.median(seconds):.0f} ms a map"
    )
    yield grayed.share >= LEAST_SHARE, counts
    mean = float(np.mean(correlations))
    alike = (
        f"{name}: mean absolute rank correlation with random weights {mean:.2f} "
        f"({len(correlations)} photos, largest {max(correlations):.2f})"
    )
    yield mean <= MOST_CORRELATION, alike


def right_photos(runner: KerasRunner, run: Path, most: int) -> Iterator[tuple[np.ndarray, int]]:
    """The correctly classified test photos of a run, as its network gets them, and their class."""
    folder = RunFolder(run)
    kept = known_scores(folder).kept
    scores = read_image_scores(folder, kept) if kept is not None else None
    assert scores is not None
    chosen = np.flatnonzero(scores.is_right)
    for at in np.random.default_rng(1).permutation(chosen)[:most].tolist():
        shape = tuple(runner.card.input_shape)
        file = scores.file(at)
        decoded = decode_reduced(str(FLOWERS / file), side_to_decode(shape)).pixels
        yield fit_picture(decoded, shape, fit=runner.card.fit), int(scores.actual[at])


if __name__ == "__main__":
    sys.exit(main())
