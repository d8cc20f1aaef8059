from __future__ import annotations

import hashlib
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import RemoteError
from workbench.remote.mirror.session import DIGEST_BYTES, LogMirror


@pytest.fixture
def mirror(tmp_path):
    made = LogMirror(tmp_path / "events.jsonl")
    yield made
    made.close()


@given(
    log=st.binary(min_size=1, max_size=3_000),
    moves=st.lists(st.tuples(st.sampled_from(["send", "doubled", "gap", "cut"]), st.floats(0, 1))),
)
def test_whatever_arrives_the_copy_is_the_first_bytes_of_the_log(tmp_path_factory, log, moves):
    path = tmp_path_factory.mktemp("mirror") / "events.jsonl"
    mirror = LogMirror(path)
    for move, share in moves:
        here = mirror.offset
        count = int(share * (len(log) - here))
        if move == "send":
            mirror.append(here, log[here : here + count])
            assert mirror.offset == here + count
        elif move == "cut":
            mirror.close()
            mirror = LogMirror(path)
            assert mirror.offset == here
        else:
            wrong = int(share * here) if move == "doubled" else here + 1 + count
            if wrong != here:
                with pytest.raises(RemoteError):
                    mirror.append(wrong, log[wrong : wrong + 10] or b"x")
        assert path.read_bytes() == log[: mirror.offset]
        assert mirror.line_under_way() == log[: mirror.offset].rpartition(b"\n")[2]
    mirror.close()


@pytest.mark.parametrize("size", [0, 1, DIGEST_BYTES, DIGEST_BYTES + 1, 3 * DIGEST_BYTES])
def test_the_end_of_the_copy_is_identified_by_its_digest(mirror, size):
    data = os.urandom(size)
    mirror.append(0, data)
    assert mirror.digest_before() == hashlib.sha256(data[-DIGEST_BYTES:]).hexdigest()


def test_a_line_that_is_longer_than_a_block_is_found_whole(mirror):
    line = b"x" * (2 * DIGEST_BYTES + 7)
    mirror.append(0, b"before\n" + line)
    assert mirror.line_under_way() == line


def test_the_old_copy_stays_readable_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"another log\n")
    mirror = LogMirror(path)
    mirror.restart()
    assert (mirror.offset, mirror.is_restarted) == (0, True)
    mirror.append(0, b"the log there\n")
    assert path.read_bytes() == b"another log\n"
    mirror.finish_restart()
    assert path.read_bytes() == b"the log there\n"
    mirror.append(mirror.offset, b"more\n")
    mirror.close()
    assert path.read_bytes() == b"the log there\nmore\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_copy_that_was_cut_off_leaves_the_old_one(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"another log\n")
    mirror = LogMirror(path)
    mirror.restart()
    mirror.append(0, b"half")
    mirror.close()
    assert path.read_bytes() == b"another log\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_log_without_an_end_is_not_copied_without_one(tmp_path, monkeypatch):
    from workbench.remote.mirror import session

    monkeypatch.setattr(session, "MOST_BYTES", 10)
    mirror = LogMirror(tmp_path / "events.jsonl")
    mirror.append(0, b"1234567\n")
    with pytest.raises(RemoteError, match="too large") as caught:
        mirror.append(8, b"890")
    assert not caught.value.is_passing
    assert (tmp_path / "events.jsonl").read_bytes() == b"1234567\n"
    mirror.close()
