"""The image readers of exported programs, as the exporter writes them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np

from workbench.exports import run_exports
from workbench.runs.model_card import ModelCard
from workbench.worker.requests.exporting.ready import facts_name, facts_of, write_scripts

Reader = Callable[[str], np.ndarray]


def ready_folder(folder: Path, key: str, *, shape, fit: str, value_range: str) -> Path:
    """Facts and scripts of a ready folder of a format that needs no network to write them."""
    spec = run_exports()[key]
    card = ModelCard(
        class_names=["a", "b"],
        input_shape=list(shape),
        fit=fit,
        graph={},
        title="Kinds",
        value_range=value_range,
    )
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / f"{spec.name}{spec.suffix}"
    facts = msgspec.json.encode(facts_of(card, spec))
    model.with_name(facts_name(model.name)).write_bytes(facts)
    write_scripts(SimpleNamespace(card=card, spec=spec, has_layers=False), model)
    return folder


def python_reader(folder: Path, *, shape=(24, 32, 3), fit="crop", value_range="") -> Reader:
    """`load_image` of classify.py."""
    place = ready_folder(folder, "onnx", shape=shape, fit=fit, value_range=value_range)
    return load(place / "classify.py").load_image


_NODE = """
import fs from "node:fs";
const folder = process.argv[1];
const { decoded } = await import(`${folder}/pictures.mjs`);
const { fitted } = await import(`${folder}/network.mjs`);
const lines = fs.readFileSync(0, "utf8").trim().split("\\n");
for (const [number, line] of lines.entries()) {
  const { file, facts } = JSON.parse(line);
  try {
    const pixels = fitted(facts, await decoded(facts, fs.readFileSync(file)));
    fs.writeFileSync(`${folder}/${number}.fitted`, pixels);
    console.log("");
  } catch (error) {
    console.log(error.message.split("\\n")[0]);
  }
}
"""


def node_pixels(
    folder: Path, files: list[tuple[str, str]], *, shape=(24, 32, 3), fit="crop"
) -> list[np.ndarray | str]:
    """What classify.mjs makes of files, each with a value range: fitted pixels, or why not."""
    place = ready_folder(folder, "tensorflowjs", shape=shape, fit=fit, value_range="")
    lines = [
        json.dumps(
            {"file": file, "facts": {"input_shape": shape, "fit": fit, "value_range": value_range}}
        )
        for file, value_range in files
    ]
    command = ["node", "--input-type=module", "-e", _NODE, str(place)]
    done = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return [
        words or np.fromfile(place / f"{number}.fitted", np.uint8).reshape(shape)
        for number, words in enumerate(done.stdout.splitlines())
    ]


def load(script: Path) -> SimpleNamespace:
    """The names of a script, without Workbench."""
    spec = importlib.util.spec_from_file_location("classify", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_own(name)}
    sys.modules["workbench"] = None  # type: ignore[assignment]
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules["workbench"]
        sys.modules.update(hidden)
    return SimpleNamespace(**vars(module))


def _is_own(name: str) -> bool:
    return name == "workbench" or name.startswith("workbench.")


def facts_in(folder: Path) -> dict:
    """What a ready folder says of its network."""
    (path,) = folder.glob("*.json")
    found: dict = json.loads(path.read_text())
    return found
