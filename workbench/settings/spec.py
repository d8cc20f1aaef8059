"""What a file of `options/` declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from workbench.core.params import Param

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class SettingSpec(Generic[T]):
    """One setting of the application; `T` is the type of its value.

    Attributes:
        param: Its key in `settings.json`, title, default, bounds and help.
        order: Its place in the dialog: lower is higher up.
        note: A sentence below it, e.g. what it costs; "" for none.
        needs_restart: A window takes it when it starts.
    """

    param: Param
    order: int
    note: str = ""
    needs_restart: bool = False

    @property
    def key(self) -> str:
        """Name of the file, of the field in `settings.json`, and of the parameter."""
        return self.param.key
