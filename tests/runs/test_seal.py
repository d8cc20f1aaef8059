"""The user's key: made once, for this user alone, and whole before a mark is made with it."""

from __future__ import annotations

import hashlib
import hmac
from concurrent.futures import ThreadPoolExecutor

import pytest

from workbench.runs.home import data_home
from workbench.runs.trust import KEY_NAME, is_sealed, seal, undo_key


def key_file():
    data_home().mkdir(parents=True, exist_ok=True)
    return data_home() / KEY_NAME


def test_the_key_is_made_once_for_this_user_alone():
    mark = seal("waiting", b"a")
    assert key_file().stat().st_mode & 0o777 == 0o600
    assert seal("waiting", b"a") == mark
    assert is_sealed(mark, "waiting", b"a")
    assert not is_sealed(mark, "undo", b"a")
    assert not is_sealed(mark, "waiting", b"b")


@pytest.mark.parametrize("torn", [b"", b"short", bytes(40)])
def test_a_key_that_a_full_disk_has_torn_is_replaced_and_marks_nothing(torn):
    key_file().write_bytes(torn)
    key_file().chmod(0o644)
    known = hmac.new(torn[:0], b"undo" + hashlib.sha256(b"n").digest(), hashlib.sha256).digest()
    mark = undo_key("n")
    assert mark != known  # anybody could seal an undo file with that
    assert is_sealed(mark.hex(), "undo", b"n")
    assert key_file().stat().st_size == 32
    assert key_file().stat().st_mode & 0o777 == 0o600


def test_many_that_need_the_first_key_at_once_use_the_same():
    with ThreadPoolExecutor(8) as pool:
        marks = set(pool.map(lambda _: seal("waiting", b"a"), range(40)))
    assert len(marks) == 1
    assert is_sealed(marks.pop(), "waiting", b"a")


def test_where_no_key_can_be_kept_there_is_none():
    key_file().mkdir()
    assert undo_key("n") == b""
