"""Images that appear in a folder: new, complete, changed; and a folder that goes."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

from workbench.errors import DatasetError
from workbench.pictures.png import png_bytes
from workbench.pictures.watching import PATIENCE_S, PAUSE_S, SETTLE_S, FolderWatch

PNG = png_bytes(np.full((4, 6, 3), 7, np.uint8))


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def watch(tmp_path, clock):
    (tmp_path / "old.png").write_bytes(PNG)
    return FolderWatch(tmp_path, clock)


def names(watch, clock, after_s=0.0):
    clock.now += after_s
    return [os.path.relpath(path, watch.folder) for path in watch.scan()]


def test_only_what_appears_is_new_once_it_has_settled(watch, clock, tmp_path):
    assert watch.num_before == 1
    (tmp_path / "inner").mkdir()
    for name in ("b10.png", "b9.png", "inner/a.jpg", "no ending", ".hidden.png", "Thumbs.db",
                 "c.png.part", "d.jpg.crdownload"):  # fmt: skip
        (tmp_path / name).write_bytes(PNG)
    (tmp_path / "notes.txt").write_text("no image")
    assert names(watch, clock) == []
    assert names(watch, clock, SETTLE_S) == ["b9.png", "b10.png", "no ending", "inner/a.jpg"]
    assert names(watch, clock, SETTLE_S) == []
    (tmp_path / "c.png.part").rename(tmp_path / "c.png")
    assert names(watch, clock) == []
    assert names(watch, clock, SETTLE_S) == ["c.png"]


def test_what_appears_while_it_is_first_looked_at_is_new(clock, tmp_path):
    (tmp_path / "old.png").write_bytes(PNG)
    since_ns = (tmp_path / "old.png").stat().st_ctime_ns + 1
    while (tmp_path / "clock").touch() or (tmp_path / "clock").stat().st_ctime_ns < since_ns:
        pass  # the clock of the disk ticks
    shutil.copy2(tmp_path / "old.png", tmp_path / "new.png")
    watch = FolderWatch(tmp_path, clock, since_ns=since_ns)
    names(watch, clock)
    assert names(watch, clock, SETTLE_S) == ["new.png"]
    assert watch.num_before == 1


def test_a_file_that_grows_is_waited_for(watch, clock, tmp_path):
    with (tmp_path / "slow.png").open("wb") as file:
        for piece in (PNG[:20], PNG[20:40], PNG[40:]):
            file.write(piece)
            file.flush()
            assert names(watch, clock, SETTLE_S) == []
    assert names(watch, clock, SETTLE_S) == ["slow.png"]


def test_one_that_cannot_be_read_comes_again_when_it_is_complete(watch, clock, tmp_path):
    """Whoever writes it may pause for longer than a file needs to settle."""
    path = tmp_path / "slow.png"
    path.write_bytes(PNG[:40])
    names(watch, clock)
    assert names(watch, clock, SETTLE_S) == ["slow.png"]
    assert not watch.is_final(str(path), is_readable=False)
    assert names(watch, clock, SETTLE_S) == []
    path.write_bytes(PNG)
    assert names(watch, clock) == []
    assert names(watch, clock, SETTLE_S) == ["slow.png"]
    assert watch.is_final(str(path), is_readable=True)
    assert names(watch, clock, PATIENCE_S) == []


def test_one_that_stays_unreadable_counts_in_the_end(watch, clock, tmp_path):
    path = tmp_path / "bad.png"
    path.write_bytes(b"no image")
    names(watch, clock)
    assert names(watch, clock, SETTLE_S) == ["bad.png"]
    assert not watch.is_final(str(path), is_readable=False)
    assert names(watch, clock, PATIENCE_S - 1) == []
    assert names(watch, clock, 1) == ["bad.png"]
    assert watch.is_final(str(path), is_readable=False)
    assert names(watch, clock, PATIENCE_S) == []


def test_an_empty_file_is_about_to_be_written(watch, clock, tmp_path):
    (tmp_path / "new.png").touch()
    names(watch, clock)
    assert names(watch, clock, PATIENCE_S - 1) == []
    (tmp_path / "new.png").write_bytes(PNG)
    names(watch, clock)
    assert names(watch, clock, SETTLE_S) == ["new.png"]


def test_what_is_replaced_or_comes_back_is_new_again(watch, clock, tmp_path):
    (tmp_path / "old.png").write_bytes(PNG + b"more")
    names(watch, clock)
    assert names(watch, clock, SETTLE_S) == ["old.png"]
    (tmp_path / "old.png").unlink()
    assert names(watch, clock) == []
    (tmp_path / "old.png").write_bytes(PNG)
    names(watch, clock)
    assert names(watch, clock, SETTLE_S) == ["old.png"]


def test_a_folder_inside_that_goes_is_no_error(watch, clock, tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.png").write_bytes(PNG)
    names(watch, clock)
    shutil.rmtree(tmp_path / "inner")
    assert names(watch, clock, SETTLE_S) == []
    assert watch.is_final(str(tmp_path / "inner" / "a.png"), is_readable=False)


def test_a_loop_of_links_ends(watch, clock, tmp_path):
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "gone.png").symlink_to(tmp_path / "nothing")
    assert names(watch, clock) == []
    assert names(watch, clock, SETTLE_S) == []


def test_a_folder_that_is_removed_is_named(watch, tmp_path):
    shutil.rmtree(tmp_path)
    with pytest.raises(DatasetError, match="folder is gone") as caught:
        watch.scan()
    assert caught.value.where == str(tmp_path)
    with pytest.raises(DatasetError, match="folder is gone"):
        FolderWatch(tmp_path)


def test_a_scan_that_takes_long_is_made_less_often(tmp_path):
    times = iter([0.0, 0.0, 0.0, 3.0])
    watch = FolderWatch(tmp_path, lambda: next(times))
    assert watch.pause_s == PAUSE_S
    watch.scan()
    assert watch.pause_s == pytest.approx(30.0)
