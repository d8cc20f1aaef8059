"""What each part sends, and which files it makes outside of its folders: nothing, in 60 s each.

`bash packaging/prove.sh telemetry [--seconds N] [--only WORDS] [--beside FOLDER]`

Window with each view, service, trainer, commands, each ready folder's program, notebook and script:
each under strace in a home of its own, alive for that long. Name queries count, to any server, and
files in the temporary folder. FOLDER is put on Python's search path, with another version of
ONNX Runtime in it. Ends with 1 where anything was sent or made.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from tests.proofs._tiny_runs import tiny_project, write_stripes
from tests.traced import Sandbox, Trace
from workbench.core.projects.project_file import save_project

_TESTS = Path(__file__).resolve().parents[1]

RUN = "../ours/runs/run"
TOGETHER = 3
"""Parts that are traced at the same time: most of it is waiting."""

FOLDERS = ("keras", "weights", "weights_keras2", "onnx", "savedmodel", "litert", "litert_int8", "c",
           "tensorflowjs")  # fmt: skip
_IN_NODE = "tensorflowjs"

ALLOWED = (
    r"tmp/workbench-[^/]*(/.*)?",  # removed at the end of what has made it
    r"tmp/(tmp[^/]*|__autograph_generated_file[^/]*)(/.*)?",  # TensorFlow's and Python's own
    r"home/\.keras(/keras\.json)?",  # Keras's settings, written by its import
    r"home/(\.cache|\.config|\.local|\.local/share|\.local/state)?",  # the folders themselves
    r"home/\.cache/(fontconfig|mesa_shader_cache\w*)(/.*)?",  # of the window's libraries
    r"tmp/cc\w{6}\.[\w.]+",  # the C compiler's own, removed at its end
    r"tmp(/\w{8})?",  # Python tries once whether the folder can be written, and removes the file
)
"""What is known to be made by libraries, and says nothing about anybody."""


@dataclass(frozen=True)
class Part:
    """A part of the product, and the words that start it."""

    name: str
    words: tuple[str, ...]


def prepare(sandbox: Sandbox, only: str) -> None:
    """A project, a trained run with the exports that are traced, and a picture."""
    data = write_stripes(sandbox.work / "data.npz")
    for name, epochs in (("p", 1), ("long", 40)):
        project = tiny_project(data, number=0, epochs=epochs)
        save_project(project, sandbox.work / f"{name}.workbench")
    Image.new("L", (12, 12), 90).save(sandbox.work / "picture.png")
    np.save(sandbox.work / "pictures.npy", np.zeros((1, 12, 12, 1), np.uint8))
    _done(sandbox, "train", "p.workbench", "--run", RUN)
    for key in FOLDERS:
        if only not in f"ready folder {key}":
            continue
        _done(sandbox, "export", RUN, key, f"folder-{key}", "--folder")
    _done(sandbox, "export", RUN, "python", "network.py")
    _done(sandbox, "export", RUN, "weights", "run.weights.h5")
    _done(sandbox, "notebook", "p.workbench", "p.ipynb")


def _done(sandbox: Sandbox, *words: str) -> None:
    trace = sandbox.traced(0, "workbench", *words)
    if trace.code:
        print(f"not prepared: {' '.join(words)}: {trace.said[-300:]}", flush=True)


def parts(sandbox: Sandbox, seconds: float) -> Iterator[Part]:
    """All of them, in the order in which they are shown."""
    yield Part("window, all views", ("tests.hostile", "--seconds", str(seconds), "p.workbench"))
    yield Part("service worker", ("tests.proofs.telemetry", "--serve"))
    yield Part("trainer", ("workbench", "train", "long.workbench", "--run", "trained"))
    commands = {
        "classify": f"{RUN} picture.png",
        "evaluate": RUN,
        "explain": f"{RUN} picture.png map.png --force",
        "calibrate": RUN,
        "report": f"{RUN} report.html --force",
        "report (PDF)": f"{RUN} report.pdf --force",
        "export": f"{RUN} onnx again.onnx --force",
        "check": "p.workbench",
        "doctor": "",
        "runs": "",
        "compare": f"{RUN} {RUN}",
        "data check": "npz:data.npz",
        "preflight": "p.workbench --tpu v5e",
    }
    for name, words in commands.items():
        yield Part(f"command {name}", ("workbench", *name.split(" (")[0].split(), *words.split()))
    for key in FOLDERS:
        folder = sandbox.work / f"folder-{key}"
        script = str(folder / "classify.py")
        words = ("tests.proofs.telemetry", "--node", str(folder)) if key == _IN_NODE else (script,)
        yield Part(f"ready folder {key}", (*words, "picture.png"))
    script = str(sandbox.work / "network.py")
    yield Part("exported network, train", (script, "train", "data.npz", "own.weights.h5"))
    yield Part("exported network, classify", (script, "classify", "run.weights.h5", "picture.png"))
    cells = str(_TESTS / "worker" / "notebook_cells.py")
    yield Part("notebook", (cells, "p.ipynb", "1", "pictures.npy", "answers.npy"))


def serve() -> int:
    """A service worker that answers requests of all kinds, as the window sends them."""
    from workbench.protocol.classify import Classify
    from workbench.protocol.service_call import ServiceCall
    from workbench.protocol.trained.evaluate import Evaluate

    with ServiceCall() as call:
        kinds = [type(answer).__name__ for request in (
            Classify(id=1, model=RUN, pictures=["picture.png"]),
            Evaluate(id=2, model=RUN),
        ) for answer in call.answers(request)]  # fmt: skip
        time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 55.0)
    print(kinds)
    return "Failed" in kinds


def serve_node(folder: Path, picture: str) -> int:
    """The script of a ready folder in Node, which is kept alive as the other parts are."""
    (folder / "node_modules").symlink_to(Path(sys.prefix) / "node" / "node_modules")
    alive = "data:text/javascript,setTimeout(() => 0, 55000)"
    command = ["node", "--import", alive, str(folder / "classify.mjs"), picture]
    return subprocess.run(command, check=False).returncode


def main(words: list[str] | None = None) -> int:
    """Prints the table; 1 where something was sent or made."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="", help="parts with these words")
    parser.add_argument("--beside", default="", help="folder with another ONNX Runtime")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="telemetry-") as folder:
        sandbox = Sandbox(Path(folder))
        prepare(sandbox, options.only)
        chosen = [part for part in parts(sandbox, options.seconds) if options.only in part.name]
        more = {"PYTHONPATH": options.beside} if options.beside else {}

        def traced(part: Part) -> Trace:
            return sandbox.traced(options.seconds, *part.words, allowed=ALLOWED, **more)

        with ThreadPoolExecutor(TOGETHER) as pool:
            results = list(zip(chosen, pool.map(traced, chosen), strict=True))
    bad = 0
    for part, trace in results:
        sent, made = len(trace.sent), len(trace.made)
        bad += bool(sent or made or trace.code or not trace.num_calls)
        print(
            f"{part.name:28} exit {trace.code}, {trace.num_calls:6,} calls, {sent} sent, {made} made"
        )
        for line in (*trace.sent[:5], *trace.made[:10], *[trace.said[-400:]] * bool(trace.code)):
            print(f"    {line}")
    total = [sum(len(getattr(trace, name)) for _, trace in results) for name in ("sent", "made")]
    print(
        f"{len(results)} parts, {options.seconds:.0f} s each: {total[0]} calls to the network, "
        f"{total[1]} files made outside, {bad} parts to look at"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--node"]:
        sys.exit(serve_node(Path(sys.argv[2]), sys.argv[3]))
    sys.exit(serve() if sys.argv[1:2] == ["--serve"] else main())
