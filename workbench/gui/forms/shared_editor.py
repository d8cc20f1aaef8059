"""The editor of a number that several replicas share: what is edited is one replica's part.

With eight replicas a batch of 1,024 reads "128 × 8 = 1,024"; setting 64 makes it 512. What
cannot be shared evenly reads "12 × 8 ≠ 100". With one replica it is a plain field.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.core.params import IntParam
from workbench.errors import ParamError
from workbench.gui.forms.number_field import NumberField
from workbench.gui.forms.param_editors import MIXED, Editor

_MOST_LETTERS = 15
"""What has more is written closer, or its end would not be in sight in a narrow panel."""

_HAIR_SPACE = "\N{HAIR SPACE}"


class SharedEditor(Editor):
    """Shows a whole, edits a part of it, and emits the whole."""

    def __init__(self, param: IntParam, replicas: int = 1) -> None:
        self._field = NumberField(param)
        super().__init__(self._field, self._show_whole, lambda: self._field.set_mixed(MIXED))
        self._param = self._part = param
        self._whole = int(param.default)
        self._field.entered.connect(self._on_part_entered)
        self.set_replicas(replicas)

    def set_replicas(self, replicas: int) -> None:
        """Sets how many replicas share the number from now on; the whole stays as it is."""
        self._replicas = replicas
        lowest = max(1, -(-self._param.minimum // replicas))
        highest = max(lowest, self._param.maximum // replicas)
        self._part = replace(self._param, minimum=lowest, maximum=highest, default=lowest)
        self._field.set_param(self._part)
        self.set_value(self._whole)

    def _show_whole(self, value: Any) -> None:
        self._whole = int(value)
        self._field.set_suffix("")
        self._field.set_value(max(1, self._whole // self._replicas))
        self._show_product()

    def _on_part_entered(self, part: Any) -> None:
        try:
            checked = self._part.check(part)
        except ParamError as error:
            each = f" for each of {self._replicas:,} replicas" if self._replicas > 1 else ""
            self.refused.emit(f"Enter {error.expected}{each}.")
            return
        if checked is not None:
            self.commit(checked * self._replicas)

    def _show_product(self) -> None:
        """Shows what follows the part; the whole too where it cannot be shared evenly."""
        if self._replicas == 1:
            self._field.setAccessibleDescription(self._param.help)
            return
        part, replicas = int(self._field.value()), self._replicas
        product = part * replicas
        is_even = product == self._whole
        words = f" × {replicas:,} {'=' if is_even else '≠'} {self._whole:,}"
        if len(f"{part:,}{words}") > _MOST_LETTERS:
            words = words.replace(" ", _HAIR_SPACE)
        self._field.set_suffix(words)
        rest = "" if is_even else f", not {self._whole:,}"
        self._field.setAccessibleDescription(
            f"{part:,} for each of {replicas:,} replicas, {product:,} together{rest}."
        )
