"""What the program writes unasked: never through a link."""

from __future__ import annotations

import os
import stat

import pytest

from workbench.core.storage.own_file import (
    make_own_folder,
    make_private,
    open_own,
    replace_own,
    take_lock,
)
from workbench.core.storage.save import save_bytes, save_with_folder
from workbench.errors import LinkFoundError, SaveError
from workbench.protocol.wire import error_from_parts, error_parts

WAYS = {
    "save": lambda path: save_bytes(path, b"new"),
    "replace": lambda path: replace_own(path, b"new"),
    "lock": take_lock,
    "append": lambda path: open_own(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND),
    "truncate": lambda path: open_own(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("is_there", [True, False], ids=["to a file", "to nothing"])
def test_nothing_is_written_through_a_link(tmp_path, way, is_there):
    outside, link = tmp_path / "outside", tmp_path / "folder" / "link"
    link.parent.mkdir()
    link.symlink_to(outside)
    if is_there:
        outside.write_bytes(b"of the user")
    with pytest.raises(LinkFoundError) as caught:
        way(link)
    assert link.is_symlink()
    assert [path.name for path in link.parent.iterdir()] == ["link"]
    assert outside.exists() == is_there
    assert not is_there or outside.read_bytes() == b"of the user"
    error = caught.value
    assert error.where == str(link)
    assert str(outside) in error.received
    assert "Delete the link" in error.fix


def test_the_error_is_rebuilt_in_another_process(tmp_path):
    (tmp_path / "link").symlink_to("/nowhere")
    with pytest.raises(LinkFoundError) as caught:
        save_bytes(tmp_path / "link", b"")
    assert isinstance(error_from_parts(error_parts(caught.value)), LinkFoundError)


@pytest.mark.parametrize("way", ["lock", "append", "truncate"])
def test_one_of_several_names_of_a_file_is_not_written_to(tmp_path, way):
    outside, other = tmp_path / "outside", tmp_path / "other"
    outside.write_bytes(b"of the user")
    other.hardlink_to(outside)
    with pytest.raises(LinkFoundError, match="link"):
        WAYS[way](other)
    assert outside.read_bytes() == b"of the user"


def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"No such device|not a regular file"):
        open_own(tmp_path / "pipe", os.O_WRONLY | os.O_APPEND)
    with pytest.raises(OSError, match="not a regular file"):
        open_own(tmp_path / "pipe", os.O_RDWR)


def test_a_folder_behind_a_link_is_not_used(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(LinkFoundError):
        make_own_folder(tmp_path / "link")
    make_own_folder(tmp_path / "new")
    make_own_folder(tmp_path / "new")
    assert (tmp_path / "new").is_dir()


def test_folders_of_our_own_are_for_this_user_alone_and_a_person_s_keeps_its_mode(tmp_path):
    make_own_folder(tmp_path / "new" / "state", parents=True)
    save_with_folder(tmp_path / "made" / "a" / "list.json", b"{}")
    for made in ("new", "new/state", "made", "made/a"):
        assert stat.S_IMODE((tmp_path / made).stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "made" / "a" / "list.json").stat().st_mode) == 0o600
    (tmp_path / "shared").mkdir(mode=0o755)
    (tmp_path / "shared").chmod(0o755)
    make_own_folder(tmp_path / "shared", parents=True)
    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o755
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="exists"):
        make_private(tmp_path / "file")


def test_a_person_s_file_behind_a_link_is_saved_but_not_made(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nothing")
    with pytest.raises(LinkFoundError):
        save_bytes(link, b"new", through_link=True)
    assert not (tmp_path / "nothing").exists()
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(SaveError):
        save_bytes(link, b"new", through_link=True)


def test_a_folder_above_may_be_behind_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    save_bytes(tmp_path / "link" / "a", b"x")
    replace_own(tmp_path / "link" / "b", b"y")
    assert sorted(path.name for path in (tmp_path / "real").iterdir()) == ["a", "b"]


def test_a_file_that_cannot_be_replaced_leaves_nothing_beside_it(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        replace_own(tmp_path / "folder", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
