"""This machine's matrix-multiply peak, and what share of it a training reaches."""

from __future__ import annotations

import json
import subprocess
import sys

from workbench.core.checks.analysis import analyse
from workbench.core.projects.project import Project
from workbench.layers import all_layers

BACKWARD_AND_FORWARD = 3
"""A step multiplies about three times as often as a forward pass: once more for the gradient
of the inputs, once more for that of the weights."""

_SCRIPT = """
import json, time, tensorflow as tf
found = {}
for name in ("float32", "bfloat16"):
    best = 0.0
    for size in (1024, 2048, 4096):
        a = tf.cast(tf.random.normal((size, size)), name)
        multiply = tf.function(lambda a: tf.matmul(a, a))
        multiply(a)
        end = time.perf_counter() + 1.5
        while time.perf_counter() < end:
            began = time.perf_counter()
            multiply(a).numpy()
            best = max(best, size**3 / (time.perf_counter() - began))
    found[name] = best
print(json.dumps(found))
"""


def measured_peak() -> dict[str, float]:
    """Multiply-adds per second of TensorFlow's own matrix product, the best of three sizes."""
    result = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return found


def multiply_adds_per_image(project: Project) -> float:
    """Of one training step, for each picture."""
    analysis = analyse(project.graph, all_layers(), recipe=project.recipe)
    return BACKWARD_AND_FORWARD * analysis.costs.multiply_adds
