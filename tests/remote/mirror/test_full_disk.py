"""The other computer cannot fill this disk."""

from __future__ import annotations

import hashlib
import shutil
from typing import NamedTuple

import pytest

from workbench.core.projects.project import Project
from workbench.errors import RemoteError, SaveError
from workbench.pictures.rows import SPARE_BYTES
from workbench.remote.mirror.file_fetcher import PARTS_NAME, Fetching
from workbench.remote.ssh.connection import Answer
from workbench.runs.folder import create_run
from workbench.runs.store.weights_file import checkpoint_room


class Usage(NamedTuple):
    total: int
    used: int
    free: int


CONTENT = b"w" * 100_000


class FarEnd:
    """Announces a file of any size, and sends as much of it as is asked for."""

    def __init__(self, size: int) -> None:
        self.size, self.num_read = size, 0

    def call(self, verb, _data=b"", **fields):
        if verb == "stat":
            digest = hashlib.sha256(CONTENT).hexdigest()
            return Answer({"is_there": True, "size": self.size, "sha256": digest}, b"")
        self.num_read += 1
        offset = fields["offset"]
        return Answer({}, CONTENT[offset : offset + fields["limit"]])


@pytest.mark.parametrize("verb", ["model", "state"])
def test_a_file_larger_than_its_network_is_not_begun(tmp_path, verb):
    run = create_run(Project(), path=tmp_path / "run")
    end = FarEnd(checkpoint_room(run) + 1)
    with pytest.raises(RemoteError, match="too large") as caught:
        getattr(Fetching(run, end, "run-1"), verb)()
    assert (caught.value.is_passing, end.num_read) == (False, 0)
    assert not (run.path / PARTS_NAME).exists()


def test_a_file_that_would_fill_the_disk_is_not_begun(tmp_path, monkeypatch):
    size = len(CONTENT)
    run, end = create_run(Project(), path=tmp_path / "run"), FarEnd(size)
    free = SPARE_BYTES + len(CONTENT) - 1
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free, 0, free))
    with pytest.raises(SaveError, match="disk space") as caught:
        Fetching(run, end, "run-1").model()
    assert f"{size:,}" in caught.value.received
    assert end.num_read == 0
    assert list((run.path / PARTS_NAME).iterdir()) == []
