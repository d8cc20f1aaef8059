"""The rules of the house that no linter has."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.house.rules import RULES
from tests.house.sources import ROOT, modules

_FOREIGN = re.compile(r"\b(load_model|model_from_json|deserialize_keras_object|extractall)\(")


def _modules_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return {name.split(".")[0] for name in result.stdout.split()}


def test_the_window_never_imports_tensorflow():
    assert not _modules_after("import workbench.app") & {"tensorflow", "keras", "h5py"}


@pytest.mark.parametrize(
    "command", ["train", "classify", "check", "runs", "data", "export", "preflight", "compiler"]
)
def test_commands_import_neither_qt_nor_tensorflow(command):
    loaded = _modules_after(f"import workbench.cli.{command}")
    assert not loaded & {"tensorflow", "keras", "PySide6", "pyqtgraph"}


def test_the_trainer_needs_no_qt():
    loaded = _modules_after("import workbench.worker.trainer.train, workbench.worker.service")
    assert not loaded & {"PySide6", "pyqtgraph"}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.title)
def test_no_rule_is_broken(rule):
    assert rule.look(modules()) == []


@pytest.mark.parametrize("package", ["client", "document"])
def test_widgets_live_in_gui_alone(package):
    """import-linter sees external packages whole, so it cannot say this."""
    inside = [m for m in modules() if m.path.startswith(f"workbench/{package}/")]
    assert inside
    assert [m.path for m in inside if "QtWidgets" in m.text] == []


def test_the_foreign_deserializer_is_not_in_the_program():
    """Eleven advisories in two years: weights are read narrowly, models are built by us."""
    written = {"workbench.exports", "workbench.programs"}  # programs that are run elsewhere
    ours = [m for m in modules() if m.package not in written]
    assert [m.path for m in ours if _FOREIGN.search(m.text)] == []


def test_pyside_keeps_its_reference_to_none():
    """PySide6 6.12.0 on Python 3.11 drops one at nearly every call and aborts in the end."""
    from PySide6.QtCore import QObject

    thing = QObject()
    before = sys.getrefcount(None)
    for _ in range(20_000):
        thing.setObjectName("x")
    assert sys.getrefcount(None) > before - 10_000
