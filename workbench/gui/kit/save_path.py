"""Dialog for the path of a file to write: asked once, and never over another file without a
question.
"""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.gui.kit.file_dialogs import keep_folder, start_folder
from workbench.gui.kit.messages import ask_choice


def ask_save_path(
    parent: QWidget,
    title: str,
    start: str,
    filters: str,
    *,
    kind: str,
    is_format_by_name: bool = False,
) -> tuple[str, str]:
    """Asks where to write a file; its ending is added where it was not typed.

    The dialog asks about replacing the name that was typed. Where the ending makes another
    name of it, and that file is there already, this asks once more.

    Args:
        parent: The window that waits.
        title: Title of the dialog.
        start: Name that is offered, and the folder if it has one.
        filters: In Qt's notation, e.g. "CSV table (*.csv);;All files (*)". The ending is the
            chosen one's, else the first one's.
        kind: Dialogs of a kind begin where one was used last.
        is_format_by_name: The ending decides on the format: any of the filters may be typed,
            whichever is chosen.

    Returns:
        The path and the filter that was chosen; two "" when called off.
    """
    whole_start = str(Path(start_folder(parent, kind)) / start)
    path, chosen = QFileDialog.getSaveFileName(parent, title, whole_start, filters)
    if not path:
        return "", ""
    keep_folder(parent, kind, path)
    is_named = is_format_by_name and with_any_ending(path, filters)
    whole = path if is_named else with_ending(path, f"{chosen};;{filters}")
    if whole != path and Path(whole).exists() and not _may_replace(parent, Path(whole)):
        return "", ""
    return whole, chosen


def with_ending(path: str, filters: str) -> str:
    """A path with the first ending that filters name, if it lacks it."""
    found = re.search(r"\*(\.[\w.]+)", filters)
    ending = found.group(1) if found else ""
    return path if path.lower().endswith(ending) else path + ending


def with_any_ending(path: str, filters: str) -> bool:
    """Whether a path has one of the endings that filters name."""
    return path.lower().endswith(tuple(re.findall(r"\*(\.[\w.]+)", filters)))


def _may_replace(parent: QWidget, path: Path) -> bool:
    what = f"Replace {path.name}?"
    more = f"A file with that name already exists in {path.parent}."
    return ask_choice(parent, what, more, ("Replace", "Cancel"), default=1) == 0
