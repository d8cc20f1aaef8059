"""Only a plug-in's own file holds its key: elsewhere no literal is a key or a title of one."""

from __future__ import annotations

import ast
import importlib
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKBENCH = ROOT / "workbench"

ALLOWED = (
    # what is declared once
    ("this_computer", "core/projects/project.py", "the target of a project that names none"),
    ("fashion_mnist", "core/projects/project.py", "the data set of a project that names none"),
    ("adam", "core/training/fields/basics.py", "the recipe's default"),
    ("constant", "core/training/fields/schedule.py", "the recipe's default"),
    ("cross_entropy", "core/training/fields/basics.py", "the recipe's default"),
    ("softmax", "core/specs/layer.py", "Keras's name of the activation"),
    ("relu", "core/specs/layer.py", "Keras's name of the activation"),
    ("leaky_relu", "core/specs/layer.py", "Keras's name of the activation"),
    # other things of the same name
    ("theme", "settings/store.py", "what version 0 stored as `dark`"),
    ("input", "core/specs/layer.py", "a category"),
    ("activation", "core/specs/layer.py", "a category"),
    ("activation", "worker/explain.py", "an attribute of Keras layers"),
    ("Input", "core/specs/layer.py", "a category"),
    ("Activation", "core/specs/layer.py", "a category"),
    ("Normalization", "core/specs/layer.py", "a category"),
    ("normalization", "core/specs/layer.py", "a category"),
    ("input", "gui/files/welcome.py", "a category"),
    ("input", "worker/step/training_loop.py", "an activity of a trainer"),
    ("input", "runs/log/texts.py", "an activity of a trainer"),
    ("input", "gui/train/time_spent.py", "an activity of a trainer"),
    ("Input", "gui/design/canvas/node_facts.py", "what comes into a layer"),
    ("add", "cli/*.py", "a command"),
    ("add", "gui/augmentation/dialog.py", "an icon"),
    ("step", "gui/plots/*.py", "what the x axis shows"),
    ("step", "gui/train/*.py", "a column, or a word of a line"),
    ("step", "gui/train/plots/*.py", "a column of the CSV file, or a word of a title"),
    ("step", "gui/targets/parity_dialog.py", "what the x axis shows"),
    ("step", "runs/export/tables.py", "a column of the table"),
    ("step", "runs/log/texts.py", "a word of a line"),
    ("step", "cli/fetch.py", "a field of JSON"),
    ("constant", "layers/_common.py", "Keras's name of a fill mode"),
    ("constant", "worker/input/augment.py", "Keras's name of a fill mode"),
    ("exponential", "layers/*.py", "Keras's name of an activation"),
    ("mobilenet", "layers/*.py", "a word that the palette's search finds it by"),
    ("lion", "datasets/cifar100.py", "a class of pictures"),
    ("folder", "hardware/cluster.py", "a part of an address"),
    ("python", "hardware/cluster.py", "a part of an address"),
    ("add", "gui/design/canvas_*.py", "an action and its icon"),
    ("Flatten", "onnx/model.py", "an operator of ONNX"),
    ("ELU", "exports/_c/lowering.py", "an operator of LiteRT"),
    ("c", "onnx/writer.py", "what names of constants begin with"),
    *(
        (kernel, "exports/_c/*.py", "a function of C")
        for kernel in (
            "add",
            "conv2d",
            "dense",
            "depthwise_conv2d",
            "maximum",
            "multiply",
            "prelu",
            "softmax",
        )
    ),
    ("folder", "protocol/trained/evaluate.py", "what images are sliced by"),
    ("folder", "runs/store/image_scores.py", "what images are sliced by"),
    ("folder", "cli/*.py", "an argument, or a field of JSON"),
    ("folder", "gui/train/runs/*.py", "an action of the menu"),
    ("notebook", "cli/notebook.py", "a command"),
    ("notebook", "help_pages.py", "a page of help"),
    ("notebook", "gui/targets/connect_dialog.py", "a page of help"),
    ("tpu", "help_pages.py", "a page of help"),
    ("tpu", "gui/files/welcome.py", "a page of help"),
    ("tpu", "gui/shell/actions.py", "a page of help"),
    ("tpu", "gui/targets/parity_dialog.py", "a page of help"),
    ("Several machines", "help_pages.py", "the title of a page of help"),
    ("weights", "cli/load.py", "an argument"),
    ("csv", "gui/train/*/*.py", "an ending of files"),
    ("zip", "cli/readback.py", "an argument"),
    ("weights", "gui/common/drops.py", "what a dropped file holds"),
    ("weights", "gui/shell/drop_controller.py", "what a dropped file holds"),
    ("tpu", "core/specs/target.py", "an environment of packages"),
    ("gpu", "core/specs/target.py", "an environment of packages"),
    ("tpu", "cli/host.py", "an environment of packages"),
    ("gpu", "cli/host.py", "an environment of packages"),
    ("tpu", "remote/*.py", "an environment of packages"),
    ("gpu", "remote/*.py", "an environment of packages"),
    ("ssh", "remote/ssh/*.py", "the program ssh"),
    ("ssh", "checkup/doctor.py", "the program ssh"),
    ("several", "hardware/cluster.py", "where an error is: the text in front of the addresses"),
    ("GPUs", "gui/targets/connect_dialog.py", "what a computer has"),
    ("TPU", "gui/targets/preflight_dialog.py", "the label of a choice"),
    ("TPU", "cli/preflight.py", "the name of an argument"),
    ("TPU", "exports/notebook.py", "Colab's name of an accelerator"),
    ("TPU", "hardware/*.py", "TensorFlow's and libtpu's name of a kind of device"),
    ("TPU", "worker/trainer/replica_check.py", "TensorFlow's name of a kind of device"),
    ("tpu", "preflight/compile_child.py", "JAX's name of a platform"),
    ("keras", "programs/training.py", "the module, in an exported program"),
    ("keras", "worker/requests/export_project.py", "the module, in an exported program"),
    *(
        ("keras", path, "the package")
        for path in (
            "checkup/*.py",
            "gui/help.py",
            "host/probe.py",
            "parts.py",
            "remote/setup.py",
            "runs/store/checkpoint.py",
            "worker/cluster/chief.py",
            "worker/process/setup.py",
        )
    ),
    ("onnx", "remote/setup.py", "a package of Workbench"),
    ("input", "exports/_tensorflowjs/operations.py", "a field of an operation"),
    *(
        (name, "exports/_tensorflowjs/*.py", "an operation of TensorFlow")
        for name in ("Conv2D", "Maximum", "Reshape", "Softmax")
    ),
    ("litert", "parts.py", "an extra"),
    ("LiteRT", "parts.py", "the library"),
    ("tfds", "parts.py", "an extra"),
    *(
        ("python", path, "the interpreter, or its version")
        for path in (
            "checkup/*.py",
            "cli/*.py",
            "host/*.py",
            "preflight/compiler_environment.py",
            "remote/*.py",
            "runs/store/checkpoint.py",
            "targets/ssh.py",
            "worker/process/setup.py",
        )
    ),
)
"""(literal, modules, what else it is there)."""


EVERYDAY_KEYS = {
    "alterations": "rotation, crop, noise: words of the field, and what pictures are",
    "views": "train, data, design: verbs and folders; what leads to a view names it",
    "data_checks": "duplicate, leak, rotated: verbs, and what images are",
    "sections": "summary, network, data: words of the field, and what reports are of",
    "curves": "loss, accuracy, learning rate: fields of events and of the recipe, and Keras's",
}
"""Folders whose keys are words of the field, so that a literal need not mean the plug-in."""

EVERYDAY_TITLES = {
    "panels": "Classes, Pictures, Recipe: headings of other parts too",
    "options": "Theme, Runs folder: words of other texts too",
}
"""Folders of which only the keys are looked for."""


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _declares_spec(path: Path) -> bool:
    targets = (
        target
        for statement in _tree(path).body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in getattr(statement, "targets", None) or [statement.target]
    )
    return any(
        isinstance(target, ast.Name) and target.id in {"SPEC", "SPECS"} for target in targets
    )


SOURCES = sorted(WORKBENCH.rglob("*.py"))
FOLDERS = sorted(
    folder
    for folder in {path.parent for path in SOURCES if _declares_spec(path)}
    if folder.name not in EVERYDAY_KEYS
)


def _words_of(folder: Path) -> frozenset[str]:
    """The keys and titles of a folder's plug-ins."""
    package = ".".join(folder.relative_to(ROOT).parts)
    specs = list(getattr(importlib.import_module(package), "SPECS", ()))
    modules = (f"{package}.{path.stem}" for path in sorted(folder.glob("[!_]*.py")))
    specs += [importlib.import_module(module).SPEC for module in modules]
    words = {spec.key for spec in specs}
    if folder.name not in EVERYDAY_TITLES:
        words |= {getattr(spec, "title", spec.key) for spec in specs}
    return frozenset(words)


@cache
def _literals(path: Path) -> tuple[tuple[int, str], ...]:
    """(line, text) of each literal; of text in front of values too ("npz:"), not of docstrings."""
    nodes = list(ast.walk(_tree(path)))
    docs = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return tuple(
        (node.lineno, node.value.removesuffix(":"))
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    )


def _hits(words: frozenset[str], outside: Path) -> list[tuple[str, int, str]]:
    return [
        (str(path.relative_to(WORKBENCH)), line, text)
        for path in SOURCES
        if outside not in path.parents
        for line, text in _literals(path)
        if text in words
    ]


def _is_allowed(path: str, text: str) -> bool:
    return any(text == literal and fnmatch(path, where) for literal, where, _ in ALLOWED)


def test_the_plug_in_folders_are_found():
    found = {folder.name for folder in FOLDERS}
    assert found >= {"layers", "datasets", "targets", "exports", "panels", "options"}
    assert not found & set(EVERYDAY_KEYS)
    assert found >= set(EVERYDAY_TITLES)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_key_occurs_outside_the_plug_in_files(folder):
    hits = _hits(_words_of(folder), folder)
    assert [hit for hit in hits if not _is_allowed(hit[0], hit[2])] == []


def test_what_is_allowed_is_there():
    hits = [hit for folder in FOLDERS for hit in _hits(_words_of(folder), folder)]
    unused = [
        (literal, where)
        for literal, where, _ in ALLOWED
        if not any(text == literal and fnmatch(path, where) for path, _, text in hits)
    ]
    assert unused == []


def test_a_key_in_code_is_found_and_one_in_a_docstring_is_not(tmp_path):
    file = tmp_path / "module.py"
    file.write_text('"""conv2d"""\n\nif kind == "conv2d" or text == f"npz:{text}":\n    pass\n')
    assert list(_literals(file)) == [(3, "conv2d"), (3, "npz")]
