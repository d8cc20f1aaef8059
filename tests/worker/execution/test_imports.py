"""Garbage collection beside the imports of a worker."""

from __future__ import annotations

import gc

import pytest

from workbench.worker.process.lazy_keras import Imports


@pytest.fixture(autouse=True)
def _unfrozen():
    assert gc.isenabled()
    yield
    gc.unfreeze()
    gc.enable()


def test_nothing_is_collected_during_an_import_and_all_of_it_is_kept():
    with Imports(are_kept=True).without_collector():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 1_000


def test_a_program_of_other_work_keeps_nothing():
    with Imports().without_collector():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_an_import_that_fails_and_one_within_another_leave_it_on():
    imports = Imports()
    with pytest.raises(ImportError), imports.without_collector(), imports.without_collector():
        raise ImportError
    assert gc.isenabled()
