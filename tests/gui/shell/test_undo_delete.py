"""A deleted run comes back by a click in the status line."""

from __future__ import annotations

from PySide6.QtCore import Qt


def test_deleted_runs_are_put_back(qtbot, window, home_trash, written):
    runs = [written(title).begin().train(1).finish() for title in ("one", "two")]
    library = window.context.library
    with qtbot.waitSignal(library.runs_changed):
        library.open()
    button = window.status.undo_delete
    assert not button.isVisible()
    for run in runs:
        with qtbot.waitSignal(library.run_deleted):
            library.delete(run.path)
    assert button.text() == "Undo: put 2 runs back"
    assert not any(run.path.exists() for run in runs)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not button.isVisible())
    qtbot.waitUntil(lambda: all(run.folder.request_path.is_file() for run in runs))
    qtbot.waitUntil(lambda: len(library.runs) == 2)
