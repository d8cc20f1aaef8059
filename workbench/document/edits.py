"""Edits as values: what the project was before and is after, never an inverse operation."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from PySide6.QtGui import QUndoCommand

from workbench.core.projects.project import Project

_EDIT_ID = 1


class GraphEdit(QUndoCommand):
    """One named step of the undo stack, e.g. "Change filters of conv2d_2".

    `show` makes the project without or with the edit the document's state. Consecutive edits of
    the same `merge_key` become one; None never merges.
    """

    def __init__(
        self,
        text: str,
        before: Project,
        after: Project,
        show: Callable[[Project], None],
        merge_key: Hashable = None,
    ) -> None:
        super().__init__(text)
        self.before = before
        self.after = after
        self._show = show
        self.merge_key = merge_key

    def redo(self) -> None:
        self._show(self.after)

    def undo(self) -> None:
        self._show(self.before)

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
