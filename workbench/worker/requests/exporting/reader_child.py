"""The process that reads an export back: by the program beside it, with the format's own runtime.

Run by path, with an order as `reading.py` has it. It imports nothing of Workbench, and cannot
import what the order forbids: TensorFlow, where it is not the runtime.
"""

from __future__ import annotations

import json
import os
import re
import resource
import runpy
import sys
import time
from pathlib import Path
from typing import Any


def main() -> int:
    """Reads one order, writes one answer."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # runtimes print what they like
    order = json.loads(sys.stdin.buffer.read())
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = order["memory"] if hard == resource.RLIM_INFINITY else min(order["memory"], hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    for module in order["forbidden"]:
        sys.modules[module] = None  # type: ignore[assignment] # as Python marks what is not there
    found = _read(order)
    answers.write(json.dumps(found).encode() + b"\n")
    answers.flush()
    return 0


def _read(order: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    program = runpy.run_path(order["script"])
    model = program["open_model"](Path(order["model"]))
    images = np.load(order["images"])
    pieces: list[dict[str, Any]] = []
    for start in range(0, len(images), order["batch"]):
        chunk = images[start : start + order["batch"]]
        found = dict(program["outputs"](model, chunk))
        if order["timed"]:
            found["probabilities"] = program["probabilities"](model, chunk)
        pieces.append(found)
    for name in pieces[0]:
        joined = np.concatenate([np.asarray(piece[name]) for piece in pieces])
        np.save(Path(order["answers"]) / f"{name}.npy", joined)
    times = []
    for number in range(order["timed"] + 1):
        one = images[number % len(images)][None]
        began = time.perf_counter()
        program["outputs"](model, one)
        times.append(time.perf_counter() - began)
    times = sorted(times[1:]) or [0.0]  # the first one prepares
    return {"milliseconds": 1e3 * times[len(times) // 2], "peak_bytes": _peak_bytes(model)}


def _peak_bytes(model: Any) -> int:
    """Peak resident memory of the process that computes: the model's own, or else this one."""
    process = getattr(model, "pid", "self")
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    except OSError:
        found = None
    if found is not None:
        return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # the threads of a runtime are not waited for
