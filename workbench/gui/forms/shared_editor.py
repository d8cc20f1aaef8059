"""The editor of a number that several replicas share: what is edited is one replica's part.

With eight replicas a batch of 1,024 reads "128 × 8 = 1,024"; setting 64 makes it 512. What
cannot be shared evenly reads "12 × 8 ≠ 100". With one replica it is a plain spin box.
"""

from __future__ import annotations

from typing import Any

from workbench.core.params import IntParam
from workbench.gui.forms.param_editors import Editor, NoWheelSpinBox

_MOST_LETTERS = 15
"""What has more is written closer, or its end would not be in sight in a narrow panel."""

_HAIR_SPACE = "\N{HAIR SPACE}"


class SharedEditor(Editor):
    """Shows a whole, edits a part of it, and emits the whole."""

    def __init__(self, param: IntParam, replicas: int = 1) -> None:
        self._box = NoWheelSpinBox()
        super().__init__(self._box, self._show_whole)
        self._param = param
        self._whole = int(param.default)
        self._box.setGroupSeparatorShown(param.maximum > 9999)
        self._box.valueChanged.connect(self._on_part_changed)
        self.set_replicas(replicas)

    def set_replicas(self, replicas: int) -> None:
        """How many replicas share the number from now on; the whole stays as it is."""
        self._replicas = replicas
        self.set_value(self._whole)

    def _show_whole(self, value: Any) -> None:
        self._whole = int(value)
        lowest = max(1, -(-self._param.minimum // self._replicas))
        self._box.setRange(lowest, max(lowest, self._param.maximum // self._replicas))
        self._box.setValue(self._whole // self._replicas)
        self._show_product()

    def _on_part_changed(self, part: int) -> None:
        if self._is_showing:
            return
        self._whole = part * self._replicas
        self._show_product()
        self.commit(self._whole)

    def _show_product(self) -> None:
        """What follows the part; the whole too where it cannot be shared evenly."""
        if self._replicas == 1:
            self._box.setSuffix("")
            self._box.setAccessibleDescription(self._param.help)
            return
        part, replicas = self._box.value(), self._replicas
        product = part * replicas
        is_even = product == self._whole
        words = f" × {replicas:,} {'=' if is_even else '≠'} {self._whole:,}"
        if len(f"{part:,}{words}") > _MOST_LETTERS:
            words = words.replace(" ", _HAIR_SPACE)
        self._box.setSuffix(words)
        rest = "" if is_even else f", not {self._whole:,}"
        self._box.setAccessibleDescription(
            f"{part:,} for each of {replicas:,} replicas, {product:,} together{rest}."
        )
