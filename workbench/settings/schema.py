"""The settings of the application: the values of `options/`, and the recent
files. A project's own settings are in its project file, not here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from workbench.errors import ParamError
from workbench.settings.options import all_settings
from workbench.settings.spec import SettingSpec

SETTINGS_VERSION = 1
MAX_RECENT_FILES = 12
RECENT_FILES = "recent_files"
"""The one field of the file that is no setting of the dialog."""

T = TypeVar("T")


def _defaults() -> dict[str, Any]:
    return {key: spec.param.default for key, spec in all_settings().items()}


@dataclass(frozen=True)
class Settings:
    """All settings.

    Attributes:
        values: The value of every setting, by key.
        recent_files: Paths of projects, the latest first, at most MAX_RECENT_FILES.
    """

    values: Mapping[str, Any] = field(default_factory=_defaults)
    recent_files: tuple[str, ...] = ()

    def get(self, spec: SettingSpec[T]) -> T:
        """The value of one setting."""
        value: T = self.values[spec.key]
        return value

    def changed(self, **values: Any) -> Settings:
        """These settings with other values, each in canonical form.

        Raises:
            ParamError: there is no such setting, or a value outside its bounds.
        """
        checked = {key: _check(key, value) for key, value in values.items()}
        recent = checked.pop(RECENT_FILES, self.recent_files)
        return replace(self, values={**self.values, **checked}, recent_files=recent)

    def plain(self) -> dict[str, Any]:
        """The fields of the settings file."""
        return {**self.values, RECENT_FILES: list(self.recent_files)}


def _check(key: str, value: Any) -> Any:
    if key == RECENT_FILES:
        return _check_recent(value)
    spec = all_settings().get(key)
    if spec is None:
        raise ParamError(f'There is no setting "{key}".', where=key, received=repr(value))
    return spec.param.check(value)


def _check_recent(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(path, str) for path in value):
        raise ParamError(
            "The recent files are a list of paths.", where=RECENT_FILES, received=repr(value)
        )
    return tuple(dict.fromkeys(value))[:MAX_RECENT_FILES]
