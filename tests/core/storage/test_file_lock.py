"""Locks on open files, and who holds them."""

from __future__ import annotations

import os

from workbench.core.storage.own_file import has_open


def test_a_process_that_is_gone_has_nothing_open(tmp_path):
    path = tmp_path / "lock"
    path.touch()
    assert not has_open(2**22 + 1, path)  # above what Linux gives
    assert not has_open(os.getpid(), path)
    with path.open() as _file:
        assert has_open(os.getpid(), path)
    assert not has_open(os.getpid(), tmp_path / "never")
