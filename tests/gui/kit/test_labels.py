"""Labels, and the words of tooltips."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QFrame, QMessageBox

from workbench.core.projects.project_file import read_project
from workbench.errors import ProjectFileError
from workbench.gui.kit import widgets
from workbench.gui.kit.dialogs import make_box
from workbench.gui.kit.labels import (
    TIP_LETTERS,
    action_tip,
    breakable,
    plain_label,
    plain_tip,
    restyle,
    unbroken,
    window_words,
    with_key,
)
from workbench.gui.kit.widgets import WaitLabel


def test_a_shape_is_never_broken_at_the_end_of_a_line(qtbot):
    label = plain_label("The output is 1,024 × 1,024 × 32 here", wrap=True)
    qtbot.addWidget(label)
    one_line = label.fontMetrics().horizontalAdvance("1,024 × 1,024 × 32")
    words = label.text().split(" ")
    assert words == ["The", "output", "is", "1,024\u00a0×\u00a01,024\u00a0×\u00a032", "here"]
    assert label.minimumSizeHint().width() >= one_line


def test_only_shapes_are_kept_together():
    assert unbroken("a × b, 3 × 4") == "a × b, 3\u00a0×\u00a04"


BUNDLE = "Open it in the window, in a terminal by `workbench unbundle FILE FOLDER`."


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (BUNDLE, "Open it in the window."),
        (
            "Again: in the window by “Find”, in a terminal by `a b`, then `c d`; or copy it.",
            "Again: in the window by “Find”; or copy it.",
        ),
        ("Run `workbench join` there.", "Run “workbench join” there."),
        ("The class `ship` is called so.", "The class `ship` is called so."),
    ],
)
def test_the_window_shows_no_way_by_a_command_where_it_has_its_own(qtbot, said, shown):
    assert window_words(said) == shown
    label, wait = plain_label(said, wrap=True), WaitLabel()
    box = make_box(None, QMessageBox.Icon.Warning, said, said)
    for widget in (label, wait, box):
        qtbot.addWidget(widget)
    wait.say(said)
    texts = (label.text(), wait.text(), plain_tip(said), box.text())
    assert set(texts) == {shown}
    assert box.informativeText() == plain_tip(said)


def test_the_error_of_a_bundle_is_shown_so(tmp_path):
    file = tmp_path / "a.workbundle"
    file.write_bytes(b"PK\x03\x04" + bytes(50))
    with pytest.raises(ProjectFileError) as found:
        read_project(file)
    assert found.value.fix == BUNDLE


def test_long_words_break_where_they_are_joined():
    words = breakable("Run “a_run_that.has_a_long_name” of x_y")
    assert words.replace("\u200b", "|") == "Run “a_|run_|that.|has_|a_|long_|name” of x_y"
    assert breakable("a" * 45).split("\u200b") == ["a" * 20, "a" * 20, "a" * 5]


def test_a_tooltip_names_the_first_key(qapp):
    action = QAction("&Undo Add Dropout…")
    assert action_tip(action) == "Undo Add Dropout"
    action.setShortcuts([QKeySequence("Ctrl+Z"), QKeySequence("Alt+Backspace")])
    assert action_tip(action) == "Undo Add Dropout (Ctrl+Z)"
    assert with_key("All <keys>", QKeySequence()) == "All ‹keys›"


def test_a_long_tooltip_is_broken_into_lines():
    first = "While a project is open, TensorFlow is loaded beforehand, which frees a lot of time. "
    path = "/" + "a" * 2 * TIP_LETTERS
    lines = plain_tip(f"{first * 2}\n\n{path}\nshort  words").split("\n")
    assert max(map(len, lines)) <= TIP_LETTERS
    assert lines[-1] == "short  words"
    assert "".join(lines[-4:-1]) == path
    assert " ".join(lines[: lines.index("")]) == (first * 2).strip()


def test_a_wait_is_said_in_minutes_as_everywhere(qtbot, monkeypatch):
    label = WaitLabel()
    qtbot.addWidget(label)
    now = [100.0]
    monkeypatch.setattr(widgets, "monotonic", lambda: now[0])
    label.wait_for("Trying")
    assert label.text() == "Trying…"
    now[0] += 126.0
    label.wait_for("Trying")
    assert label.text() == "Trying, 2 min 06 s"
    label.say("")


@pytest.mark.parametrize("roles", [("drop", ""), ("", "drop")])
def test_the_content_of_a_frame_follows_its_border(qtbot, roles):
    """Where it is restyled as where it was made so."""
    frames = [QFrame(), QFrame()]
    for frame, role in zip(frames, roles, strict=True):
        qtbot.addWidget(frame)
        frame.setStyleSheet('QFrame[role="drop"] { border: 2px dashed red; }')
        frame.setProperty("role", role)
        frame.show()
    assert frames[0].contentsRect() != frames[1].contentsRect()
    restyle(frames[0], role=roles[1])
    frames[0].resize(frames[1].size())
    assert frames[0].contentsRect() == frames[1].contentsRect()
