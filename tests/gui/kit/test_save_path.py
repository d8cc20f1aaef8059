"""The name a file is written to."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.core.projects.project import Project
from workbench.gui.kit import dialogs
from workbench.gui.kit.dialogs import ask_save_path, with_ending

FILTERS = "Tables (*.csv);;All files (*)"


@pytest.mark.parametrize(
    ("typed", "filters", "whole"),
    [
        ("a", FILTERS, "a.csv"),
        ("a.CSV", FILTERS, "a.CSV"),
        ("my.net", "Weights (*.weights.h5)", "my.net.weights.h5"),
        ("a", "All files (*)", "a"),
        ("a", f"All files (*);;{FILTERS}", "a.csv"),
    ],
)
def test_the_ending_is_added_once(typed, filters, whole):
    assert with_ending(typed, filters) == whole


@pytest.fixture
def typed(monkeypatch):
    """Answers the file dialog with a name, and the question about replacing with a choice."""

    def type_in(path, answer=None):
        monkeypatch.setattr(
            QFileDialog,
            "getSaveFileName",
            lambda *_args: (str(path), FILTERS.split(";;", maxsplit=1)[0]),
        )
        questions = []

        def ask(_parent, what, *_rest, **_named):
            questions.append(what)
            return answer

        monkeypatch.setattr(dialogs, "ask_choice", ask)
        return questions

    return type_in


@pytest.mark.parametrize(("answer", "is_written"), [(0, True), (1, False), (-1, False)])
def test_a_file_that_only_the_ending_meets_is_asked_about(
    qtbot, tmp_path, typed, answer, is_written
):
    parent = QWidget()
    qtbot.addWidget(parent)
    (tmp_path / "a.csv").write_text("old")
    questions = typed(tmp_path / "a", answer)
    path, _ = ask_save_path(parent, "Save", "", FILTERS, kind="table")
    assert questions == ["Replace a.csv?"]
    assert path == (str(tmp_path / "a.csv") if is_written else "")


def test_a_name_the_dialog_asked_about_is_not_asked_about_again(qtbot, tmp_path, typed):
    parent = QWidget()
    qtbot.addWidget(parent)
    (tmp_path / "a.csv").write_text("old")
    questions = typed(tmp_path / "a.csv")
    assert ask_save_path(parent, "Save", "", FILTERS, kind="table")[0] == str(tmp_path / "a.csv")
    assert not questions


def test_saving_a_project_does_not_replace_another_unasked(window, tmp_path, monkeypatch):
    other = tmp_path / "net.workbench"
    other.write_text("another project")
    window.context.document.new(Project())
    window.context.document.add_node("input")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (str(tmp_path / "net"), ""))
    monkeypatch.setattr(dialogs, "ask_choice", lambda *_args, **_named: 1)
    assert not window.files.save_as()
    assert other.read_text() == "another project"
    assert window.context.document.is_dirty
