"""Files of earlier versions, brought up to date one version at a time.

A migration is a pure function from the plain dict of version N to that of version N + 1.
It never rejects: what it does not recognize it leaves in place, and the reader of the
newest version shows what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Plain = dict[str, Any]
Migration = Callable[[Plain], Plain]


class MigrationChain:
    """The migrations of one file format, up to the version that this Workbench writes."""

    def __init__(self, newest: int) -> None:
        self._newest = newest
        self._steps: dict[int, Migration] = {}

    def step(self, from_version: int) -> Callable[[Migration], Migration]:
        """Declares the function that brings a dict of `from_version` to the next version."""

        def declare(migration: Migration) -> Migration:
            self._steps[from_version] = migration
            return migration

        return declare

    def migrate(self, plain: Plain, version: int) -> Plain:
        """Brings a dict of an earlier `version` to the newest one; `plain` is not changed."""
        for step in range(version, self._newest):
            plain = {**self._steps[step](plain), "version": step + 1}
        return plain
