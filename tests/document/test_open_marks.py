"""Marks of the projects that are open: two windows see each other, and a leftover does not count."""

from __future__ import annotations

import pytest

from workbench.core.storage.save import path_key
from workbench.document.recovery import OpenMarks


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "open"


@pytest.fixture
def windows(folder):
    both = OpenMarks(folder), OpenMarks(folder)
    yield both
    for marks in both:
        marks.release()


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "p.workbench"
    path.touch()
    return path


def test_the_other_window_sees_a_mark_and_its_own_window_does_not(windows, project, tmp_path):
    one, other = windows
    link = tmp_path / "link.workbench"
    link.symlink_to(project)
    one.hold(project)
    assert other.is_held_elsewhere(project)
    assert other.is_held_elsewhere(link)
    assert not other.is_held_elsewhere(tmp_path / "another.workbench")
    assert not one.is_held_elsewhere(project)
    other.hold(link)
    assert one.is_held_elsewhere(project)


def test_a_window_marks_one_project_and_takes_its_mark_back(windows, project, folder, tmp_path):
    one, other = windows
    one.hold(project)
    one.hold(tmp_path / "next.workbench")
    assert len(list(folder.iterdir())) == 1
    assert not other.is_held_elsewhere(project)
    assert other.is_held_elsewhere(tmp_path / "next.workbench")
    one.release()
    one.release()  # also when nothing is open
    assert list(folder.iterdir()) == []
    assert not other.is_held_elsewhere(tmp_path / "next.workbench")


def test_a_mark_that_no_window_holds_is_removed_and_other_files_are_not(windows, project, folder):
    one, _ = windows
    folder.mkdir()
    left, foreign = folder / f"{path_key(project)}.0123.open", folder / "a.save"
    left.touch()
    foreign.touch()
    assert not one.is_held_elsewhere(project)
    assert list(folder.iterdir()) == [foreign]


def test_a_mark_that_cannot_be_looked_at_counts_and_stays(windows, project, folder):
    one, _ = windows
    folder.mkdir()
    loop = folder / f"{path_key(project)}.0123.open"
    loop.symlink_to(loop)
    assert one.is_held_elsewhere(project)
    assert loop.is_symlink()


def test_without_a_folder_windows_do_not_see_each_other_and_go_on(tmp_path, project):
    (tmp_path / "file").touch()
    one, other = (OpenMarks(tmp_path / "file" / "open") for _ in range(2))
    one.hold(project)
    assert not other.is_held_elsewhere(project)
    one.release()
