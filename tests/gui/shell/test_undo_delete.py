"""A deleted run comes back by a click in the status line."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu


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


def trash_menu(window):
    """Run > Restore from trash, as it is once it was opened."""
    menu = next(
        m
        for m in window.menus.by_title["Run"].findChildren(QMenu)
        if m.title() == "Restore from tr&ash"
    )
    menu.aboutToShow.emit()
    return menu


def test_runs_that_were_deleted_before_are_in_the_menu(qtbot, window, home_trash, written):
    runs = [written(title).begin().train(1).finish() for title in ("one", "two & three")]
    library = window.context.library
    with qtbot.waitSignal(library.runs_changed):
        library.open()
    menu = trash_menu(window)
    qtbot.waitUntil(lambda: menu.actions()[0].text() == "No run is in the trash")
    for run in runs:
        with qtbot.waitSignal(library.run_deleted):
            library.delete(run.path)
    menu = trash_menu(window)
    qtbot.waitUntil(lambda: len(menu.actions()) == 2)
    names = {run.path.name.replace("&", "&&"): run for run in runs}
    chosen = menu.actions()[0]
    wanted = names[chosen.text().partition(", deleted 20")[0]]
    with qtbot.waitSignal(library.run_restored):
        chosen.trigger()
    assert wanted.folder.request_path.is_file()
    assert sum(run.path.exists() for run in runs) == 1
