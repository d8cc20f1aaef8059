"""How large things are: the program, its folders, files and functions, and how much of it imports."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from tests.house import imports
from tests.house.sources import Module

MOST_LINES_OF_FILE = 500
FEWEST_LINES_OF_CRUMB = 40
MOST_LINES_OF_FUNCTION = 40
MOST_MODULES_OF_FOLDER = 20

STILL_LONG = {
    "workbench/core/checks/estimates.py: predict",
    "workbench/host/children.py: run",
    "workbench/worker/execution/autotune.py: search",
    "workbench/worker/execution/compiled.py: compile_training",
    "workbench/worker/input/augment.py: augmentation",
    "workbench/worker/input/pipeline.py: training_pipeline",
    "workbench/worker/lowering/child.py: lower_within",
    "workbench/worker/model/build.py: build_model",
    "workbench/worker/model/fast_layers.py: with_exact_bias",
    "workbench/worker/model/fast_layers.py: fused_batch_normalization",
    "workbench/worker/trainer/train.py: _train",
}
"""Functions from before this rule that are still to be divided. None may be added."""


def num_lines(modules: Sequence[Module]) -> int:
    """Non-blank lines of all modules."""
    return sum(module.num_lines for module in modules)


def long_files(modules: Sequence[Module]) -> list[str]:
    """Files with too many non-blank lines."""
    return [
        f"{module.path}: {module.num_lines} lines"
        for module in modules
        if module.num_lines > MOST_LINES_OF_FILE
    ]


def long_functions(modules: Sequence[Module]) -> list[str]:
    """Functions with too many lines, from `def` to their end."""
    found = {
        f"{module.path}: {name}"
        for module in modules
        for name, lines in _functions(module.tree)
        if lines > MOST_LINES_OF_FUNCTION
    }
    paths = {module.path for module in modules}
    divided = {each for each in STILL_LONG - found if each.partition(":")[0] in paths}
    return sorted(found - STILL_LONG) + [f"no longer: {each}" for each in sorted(divided)]


def _functions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or 0) - node.lineno + 1


def median_lines(modules: Sequence[Module]) -> int:
    """Non-blank lines of the module in the middle, packages' own texts left out."""
    return int(median(module.num_lines for module in modules if not module.is_package))


def share_of_imports(modules: Sequence[Module]) -> float:
    """Lines of import statements as a share of all non-blank lines, 0..1."""
    statements = (
        node
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    lines = sum((node.end_lineno or 0) - node.lineno + 1 for node in statements)
    return lines / max(1, num_lines(modules))


def crumbs(modules: Sequence[Module]) -> list[str]:
    """Small modules with one importer: a part of it. Folders of plug-ins have their own measure."""
    users: Counter[str] = Counter()
    for targets in imports.imported(modules).values():
        users.update(targets)
    plug_ins = plug_in_packages(modules)
    return [
        f"{module.path}: {module.num_lines} lines"
        for module in modules
        if module.num_lines < FEWEST_LINES_OF_CRUMB
        and users[module.name] == 1
        and not module.is_package
        and not is_plug_in(module)
        and module.package not in plug_ins
    ]


def large_folders(modules: Sequence[Module]) -> list[str]:
    """Folders with too many modules, but those of plug-ins: one file for each thing."""
    found = Counter(module.package for module in modules if not module.is_package)
    plug_ins = plug_in_packages(modules)
    return [
        f"{package}: {count} modules"
        for package, count in sorted(found.items())
        if count > MOST_MODULES_OF_FOLDER and package not in plug_ins
    ]


def plug_in_packages(modules: Sequence[Module]) -> set[str]:
    """Packages most of whose modules are plug-ins."""
    total = Counter(module.package for module in modules if not module.is_package)
    plug_ins = Counter(module.package for module in modules if is_plug_in(module))
    return {package for package, count in plug_ins.items() if 2 * count > total[package]}


def is_plug_in(module: Module) -> bool:
    """Whether it declares a thing that is found by walking the folder: a SPEC, or a command."""
    names = {
        target.id
        for statement in module.tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in getattr(statement, "targets", None) or [statement.target]
        if isinstance(target, ast.Name)
    }
    return "SPEC" in names or {"NAME", "HELP"} <= names
