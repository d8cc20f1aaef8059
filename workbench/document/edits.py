"""Edits as values: what the project was before and is after, never an inverse operation."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from PySide6.QtGui import QUndoCommand

from workbench.core.network.graph import Edge
from workbench.core.projects.project import Project

_EDIT_ID = 1


Selection = tuple[tuple[str, ...], tuple[Edge, ...]]
"""Ids of the selected nodes, and the selected edges."""


class Editable(Protocol):
    """What an edit changes."""

    selection: Selection

    def show_state(self, state: Project) -> None:
        """Makes a project the state."""

    def return_to(self, state: Project) -> Project:
        """Makes a project that was the state before it again, seen as the present one is; returns
        the one that is left.
        """

    def restore_selection(self, selection: Selection) -> None:
        """Selects again what was selected when that state was left."""


class GraphEdit(QUndoCommand):
    """One named step of the undo stack, e.g. "Change filters of conv2d_2".

    It makes the project without or with the edit the owner's state, with the selection that was
    there before the edit, or when it was undone. What is left is kept as it was last seen: groups
    may have been folded since. Consecutive edits of the same `merge_key` become
    one; None never merges.
    """

    def __init__(
        self,
        text: str,
        before: Project,
        after: Project,
        owner: Editable,
        merge_key: Hashable = None,
    ) -> None:
        super().__init__(text.replace("&", "&&"))  # Edit > Undo shows it in a menu
        self.before = before
        self.after = after
        self._owner = owner
        self._selected_before = owner.selection
        self._selected_after: Selection | None = None
        self.merge_key = merge_key

    def redo(self) -> None:
        if self._selected_after is None:  # the first time
            self._owner.show_state(self.after)
        else:
            self.before = self._owner.return_to(self.after)
            self._owner.restore_selection(self._selected_after)

    def undo(self) -> None:
        self._selected_after = self._owner.selection
        self.after = self._owner.return_to(self.before)
        self._owner.restore_selection(self._selected_before)

    def id(self) -> int:
        """The same for all edits: `mergeWith` decides."""
        return _EDIT_ID

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Takes over what a following edit of the same thing led to.

        An edit that ends where it began is dropped from the stack.
        """
        if not isinstance(other, GraphEdit) or self.merge_key is None:
            return False
        if other.merge_key != self.merge_key or other.before is not self.after:
            return False
        self.after = other.after
        self.setObsolete(self.after == self.before)
        return True
