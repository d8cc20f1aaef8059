"""Edits as values: what the project was before and is after, never an inverse operation."""

from collections.abc import Callable, Hashable

from PySide6.QtGui import QUndoCommand

from workbench.core.projects.project import Project

_EDIT_ID = 1


class GraphEdit(QUndoCommand):
    """One named step of the undo stack.

    Args:
        text: What the user did, e.g. "Change filters of conv2d_2".
        before, after: The project without and with the edit.
        show: Takes either of them as the document's state.
        merge_key: Consecutive edits of the same key become one; None never merges.
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
        """Shows the project with the edit."""
        self._show(self.after)

    def undo(self) -> None:
        """Shows the project without the edit."""
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
