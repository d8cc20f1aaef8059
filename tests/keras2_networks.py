"""Networks of the project beside programs of Keras 2 (worker/keras2_program.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.built_networks import runner_of
from workbench.core.network.graph import Graph
from workbench.core.network.roles import input_nodes
from workbench.exports import run_exports
from workbench.layers import all_layers
from workbench.worker.foreign.foreign_weights import read_foreign_weights
from workbench.worker.model.build import assign_weights
from workbench.worker.requests.exporting.converter import ExportContext, keras_calls
from workbench.worker.saved_models.keras_runner import KerasRunner, weights_layout

PROGRAM = Path(__file__).parent / "worker" / "keras2_program.py"


def run_keras2(folder: Path, *orders: str) -> None:
    """Runs jobs (JOB NAME ...) of the program of Keras 2 in a process of its own."""
    command = [sys.executable, str(PROGRAM), str(folder), *orders]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def put_network(folder: Path, name: str, graph: Graph) -> None:
    """Writes the network NAME.json for the program, and pictures of noise as NAME.npy: uint8
    (4, height, width, channels).
    """
    calls = keras_calls(graph)
    shape = input_nodes(graph, all_layers())[0].params["shape"]
    plain = [
        {
            "name": call.name,
            "class": call.spec.title,
            "arguments": {**call.required, **call.arguments},
            "inputs": call.inputs,
            "shape": shape,
        }
        for call in calls
    ]
    (folder / f"{name}.json").write_text(json.dumps(plain))
    pictures = np.random.default_rng(5).integers(0, 256, (4, *shape))
    brightness = np.array([0.1, 0.4, 0.7, 1.0])[:, None, None, None]
    np.save(folder / f"{name}.npy", (pictures * brightness).astype(np.uint8))


def loaded(graph: Graph, path: Path) -> KerasRunner:
    """The network with the weights of a file."""
    runner = runner_of(graph)
    found = read_foreign_weights(path, weights_layout(runner.built))
    assign_weights(runner.built, found.arrays)
    return runner


def export_keras2(runner: KerasRunner, path: Path) -> None:
    """Exports the weights of a network in the layout of Keras 2."""
    spec = run_exports()["weights_keras2"]
    with tempfile.TemporaryDirectory() as folder:
        spec.write(ExportContext(runner, spec, Path(folder)), str(path))


def answers(runner: KerasRunner, folder: Path, name: str) -> np.ndarray:
    """The answers of a network for the pictures NAME.npy."""
    pictures = np.load(folder / f"{name}.npy").astype("float32")
    return np.asarray(runner.built.model(pictures, training=False))


def difference(folder: Path, name: str, job: str, ours: np.ndarray) -> tuple[float, float]:
    """The largest difference to what a job of the program has answered, and the largest one between
    its own answers for two pictures; both relative to its largest answer where that is over 1.
    """
    theirs = np.load(folder / f"{name}.{job}.npy")
    scale = max(1.0, np.abs(theirs).max())
    return float(np.abs(ours - theirs).max() / scale), float(np.ptp(theirs, axis=0).max() / scale)
