"""Compiles programs with the real TPU compiler, without a TPU.

Run by its path with the Python of the compiler environment; imports nothing of ours, and
is never imported. A JSON order a line on stdin, a JSON answer a line on stdout, in turn:

    {"text": PATH of StableHLO, "topology": "v5e:2x4", "megacore": false}
    {"fits": true, "peak_bytes": ..., "flops": ..., "bytes_moved": ..., "cycles": ...,
     "largest": [[BYTES, WORDS], ...]}
    {"fits": false, "error": ..., "report": LINES OF THE COMPILER'S MEMORY REPORT, ...}
    {"fault": WORDS}                    the compiler could not be used at all

The first line is {"ready": VERSIONS}. What the answers mean is read in `compile_answers`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

_SETTINGS = {
    "JAX_PLATFORMS": "cpu",
    # Else it queries the metadata server of a cloud for minutes, where there is none.
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
    # Else a second process that compiles at the same time is rejected.
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
}

_PR_SET_PDEATHSIG = 1
_MOST_TEXT = 4_000
_MOST_REPORT = 60_000
_NUM_LARGEST = 8
_ITEM_BYTES = {"pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "bf16": 2, "f16": 2,
               "s32": 4, "u32": 4, "f32": 4, "s64": 8, "u64": 8, "f64": 8}  # fmt: skip
_RESULT = re.compile(
    r"^\s+(?:ROOT )?%([\w.\-]+) = (\w+)\[([\d,]+)\]\{[^}]*\} ([\w\-]+)\(", re.MULTILINE
)
_OP_NAME = re.compile(r'op_name="([^"]*)"')


def main() -> int:
    """Answers orders until stdin ends."""
    # Linux alone has this compiler: nothing else would end us when our parent is killed.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # Some programs take gigabytes: when memory runs out, this process shall go first.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("700", encoding="ascii")
    os.environ.update(_SETTINGS)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not come between the answers
    logs = os.environ["TPU_LOG_DIR"]
    try:
        compiler = _Compiler()
    except Exception as error:  # noqa: BLE001 - reported to the caller, whatever it is
        _say(answers, {"fault": _words(error)})
        return 1
    _say(answers, {"ready": compiler.versions})
    for line in sys.stdin:
        _say(answers, _answer(compiler, json.loads(line), logs))
    return 0


def _say(answers: Any, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_MOST_TEXT]


class _Compiler:
    """JAX's compile-only client. These modules are private to it: its version is pinned."""

    def __init__(self) -> None:
        from importlib.metadata import version  # noqa: PLC0415

        import jax  # noqa: PLC0415 - after the settings, and with a message where it fails
        import jaxlib  # noqa: PLC0415
        import numpy as np  # noqa: PLC0415
        from jax._src import compiler  # noqa: PLC0415
        from jax._src.interpreters import mlir  # noqa: PLC0415
        from jax._src.lib import _jax  # noqa: PLC0415
        from jax._src.lib.mlir import ir  # noqa: PLC0415
        from jax.experimental import topologies  # noqa: PLC0415

        self._np, self._compiler, self._mlir = np, compiler, mlir
        self._jax, self._ir, self._topologies = _jax, ir, topologies
        self.versions = {
            "jax": jax.__version__,
            "jaxlib": jaxlib.__version__,
            "libtpu": version("libtpu"),
        }

    def compile(self, path: str, topology: str, *, megacore: bool) -> Any:
        """An executable of the program in a file, for one device of a topology."""
        more = {"chip_config_name": "megacore"} if megacore else {}
        described = self._topologies.get_topology_desc(
            platform="tpu", topology_name=topology, **more
        )
        device = described.devices[0]
        options = self._compiler.get_compile_options(
            num_replicas=1, num_partitions=1, device_assignment=self._np.array([[device.id]])
        )
        with self._mlir.make_ir_context():
            module = self._ir.Module.parse(Path(path).read_text(encoding="utf-8"))
            devices = self._jax.DeviceList((device,))
            return device.client.compile(module, devices, options)


def _answer(compiler: _Compiler, order: dict[str, Any], logs: str) -> dict[str, Any]:
    for old in _log_files(logs, "*"):
        os.truncate(old, 0)  # the compiler goes on writing into it
    try:
        program = compiler.compile(order["text"], order["topology"], megacore=order["megacore"])
    except Exception as error:  # noqa: BLE001 - a refusal is an answer
        return {"fits": False, "error": str(error)[:_MOST_TEXT], "report": _report(logs)}
    memory, cost = program.get_compiled_memory_stats(), program.cost_analysis()
    text = program.hlo_modules()[0].to_string()
    sizes = {
        f"{name}_bytes": int(getattr(memory, f"{name}_size_in_bytes"))
        for name in ("argument", "output", "alias", "temp", "generated_code")
    }
    return {
        "fits": True,
        **sizes,
        "peak_bytes": int(getattr(memory, "peak_memory_in_bytes", 0)),
        "flops": _counted(cost.get("flops", 0.0)),
        "bytes_moved": _counted(cost.get("bytes accessed", 0.0)),
        "cycles": _cycles(text),
        "largest": _largest(text),
    }


def _counted(value: float) -> float:
    """An estimate, 0 where the compiler has none: JSON has no infinity."""
    return float(value) if math.isfinite(value) and value > 0 else 0.0


def _log_files(logs: str, pattern: str) -> list[Path]:
    return sorted(path for path in Path(logs).glob(pattern) if not path.is_symlink())


def _report(logs: str) -> str:
    """What the compiler wrote about memory when it ran out of it."""
    texts = []
    for path in _log_files(logs, "*ERROR*"):
        with path.open(encoding="utf-8", errors="replace") as file:
            texts.append(file.read(_MOST_REPORT).replace("\0", ""))
    return "".join(texts)[:_MOST_REPORT]


def _entry(text: str) -> str:
    return text[text.find("\nENTRY") :]


def _cycles(text: str) -> int:
    """The compiler's own estimate; the body of a loop is counted once."""
    return sum(map(int, re.findall(r'"estimated_cycles":"(\d+)"', _entry(text))))


def _largest(text: str) -> list[tuple[int, str]]:
    """The largest results that the program computes, with what computes them."""
    found = []
    for line in _entry(text).splitlines():
        match = _RESULT.match(line)
        if match is None or match[4] in {"parameter", "bitcast", "get-tuple-element"}:
            continue
        count = _ITEM_BYTES.get(match[2], 4) * math.prod(map(int, match[3].split(",")))
        name = _OP_NAME.search(line)
        words = f"{match[2]}[{match[3]}] {name[1] if name else match[1]}"
        found.append((count, words[:300]))
    return sorted(found, reverse=True)[:_NUM_LARGEST]


if __name__ == "__main__":
    sys.exit(main())
