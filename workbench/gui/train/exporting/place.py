"""Dialogs for the path of an export. A file is named in a dialog that saves; a folder is made in
one that is chosen, as dialogs that save enter a folder whose name is typed, and cannot replace it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from pathlib import Path

from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.core.specs import ExportSpec
from workbench.exports import is_export_folder
from workbench.gui.kit.file_dialogs import choose_folder, keep_folder, start_folder
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import row
from workbench.gui.kit.messages import ask_choice
from workbench.gui.kit.save_path import ask_save_path
from workbench.runs.naming import SEPARATOR

_NAME_PX = 140
_KIND = "export"
_NO_QUOTES = str.maketrans("", "", "“”")
"""Names of layers are quoted in labels; in a terminal such quotes cannot be typed."""


class FolderName(QWidget):
    """The name of the folder that is to be written; keeps its room while it is hidden.

    Attributes:
        field: What was proposed, or typed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._proposed = ""
        self.field = QLineEdit()
        self.field.setAccessibleName("Folder name")
        self.field.setMinimumWidth(_NAME_PX)
        self.field.textChanged.connect(lambda words: self.field.setToolTip(plain_tip(words)))
        row(plain_label("Folder name"), (self.field, 1), parent=self, spacing=8)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)

    def propose(self, name: str) -> None:
        """Proposes a name; what was typed stays as long as the same one is proposed."""
        if name != self._proposed:
            self._proposed = name
            self.field.setText(name)
            self.field.setCursorPosition(0)

    @property
    def text(self) -> str:
        """A name without a path; the proposed one where none was typed."""
        name = self.field.text().replace("/", "-").strip()
        return self._proposed if name in {"", ".", ".."} else name


def proposed_name(
    title: str, spec: ExportSpec, specs: Iterable[ExportSpec], *, is_folder: bool
) -> str:
    """The name of an export, without an ending. Folders, and formats that share their ending with
    others, have that of the format in it.
    """
    name = title.replace(SEPARATOR, " ")
    is_shared = sum(each.suffix == spec.suffix for each in specs) > 1
    if is_folder or is_shared:
        name = f"{name} {spec.title.replace(',', '')}"
    return name.replace("/", "-").translate(_NO_QUOTES)


def ask_file(parent: QWidget, title: str, name: str, spec: ExportSpec) -> str:
    """Asks for the file to write; "" when canceled."""
    filters = f"{spec.title} (*{spec.suffix})"
    path, _ = ask_save_path(parent, title, name + spec.suffix, filters, kind=_KIND)
    return path


def ask_new_folder(parent: QWidget, name: str) -> str:
    """Asks in which folder to make one of this name; an earlier export may be chosen itself. What
    is there already is replaced only when confirmed, and only where it is an export.

    Returns:
        The path of the folder to write; "" when canceled.
    """
    start = start_folder(parent, _KIND)
    chosen = choose_folder(parent, f"Choose where to write “{name}”", start)
    if not chosen:
        return ""
    target = Path(chosen)
    if not is_export_folder(target):
        target /= name
    path = _replaced_or_free(parent, target)
    keep_folder(parent, _KIND, path)
    return path


def _replaced_or_free(parent: QWidget, target: Path) -> str:
    """The folder itself where there is none yet or it may be replaced, or one beside it."""
    if not target.exists() and not target.is_symlink():
        return str(target)
    free = free_name(target)
    where = f"in {target.parent}. Keeping both writes “{free.name}”."
    if is_export_folder(target):
        what = f"Replace {target.name}?"
        more = f"Replacing removes all that is in the earlier export with that name {where}"
        paths, choices = [str(target), str(free)], ["Replace", "Keep both", "Cancel"]
    else:
        one = "A folder" if target.is_dir() else "A file"
        what = f"{target.name} is there already, and is no export."
        more = f"{one} with that name is {where}"
        paths, choices = [str(free)], ["Keep both", "Cancel"]
    answer = ask_choice(parent, what, more, choices, default=len(choices) - 1)
    return paths[answer] if 0 <= answer < len(paths) else ""


def free_name(path: Path) -> Path:
    """The first of "name 2", "name 3"… that is not there."""
    names = (path.with_name(f"{path.name} {number}") for number in count(2))
    return next(each for each in names if not each.exists() and not each.is_symlink())
