"""The rows of a classified folder: where their images are, after some were moved and put back."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gui.views.scripted import cat
from workbench.gui.classify.folder.rows import FolderRows


class Looked(dict):
    """Moves that keep which files were looked up."""

    def __init__(self, moved):
        super().__init__(moved)
        self.asked = []

    def get(self, file, default=None):
        self.asked.append(file)
        return super().get(file, default)

    def __iter__(self):
        raise AssertionError("all files are gone through")


@pytest.fixture
def rows():
    rows = FolderRows()
    rows.add([cat(f"/x/{number}.png") for number in range(3)])
    return rows


def files(rows):
    return [rows.file(row) for row in range(len(rows))]


def test_moved_images_are_found_where_they_are(rows):
    rows.relocate({"/x/0.png": "/cat/0.png", "/x/2.png": "/cat/2.png"})
    assert files(rows) == ["/cat/0.png", "/x/1.png", "/cat/2.png"]
    assert rows.answers(np.array([2, 1])) == [("/cat/2.png", "cat"), ("/x/1.png", "cat")]
    rows.relocate({"/cat/0.png": "/x/0.png"})  # put back
    assert files(rows) == ["/x/0.png", "/x/1.png", "/cat/2.png"]


def test_an_image_that_arrives_under_the_name_of_a_moved_one_is_where_it_arrived(rows):
    rows.relocate({"/x/0.png": "/cat/0.png"})
    rows.add([cat("/x/0.png")])
    assert files(rows) == ["/cat/0.png", "/x/1.png", "/x/2.png", "/x/0.png"]


def test_only_what_is_shown_is_looked_up(rows):
    moved = Looked({"/x/1.png": "/cat/1.png"})
    rows.relocate(moved)
    assert moved.asked == []
    assert rows.file(1) == "/cat/1.png"
    assert moved.asked == ["/x/1.png"]
