"""Parts of images by the folders and names in their paths."""

from __future__ import annotations

import pytest

from workbench.pictures.listed.cells import path_parts


@pytest.mark.parametrize(
    ("paths", "parts"),
    [
        (("train/1.png", "test/2.png"), ["train", "test"]),
        (("./data/train/1.png", "data/val/2.png"), ["train", "validation"]),
        (("C:\\d\\train\\1.png", "C:\\d\\test\\2.png"), ["train", "test"]),
        (("a/b/train/x/1.png", "c/test/x/2.png"), ["train", "test"]),
        (("my_train/1.png", "my_test/2.png"), ["train", "test"]),
        (("train/eval/1.png", "test/eval/2.png"), ["train", "test"]),
        (("train/1.png", "eval/2.png", "test/3.png"), ["train", "validation", "test"]),
        (("train_1.png", "x/test_2.png"), ["train", "test"]),
        (("train/1.png", "train/2.png"), None),
        (("test/1.png", "val/2.png"), None),
        (("train/1.png", "bus/2.png"), None),
        (("my_train/1.png", "your_test/2.png"), None),
        (("train/1.png", "2.png"), None),
        ((), None),
    ],
)
def test_the_word_of_all_paths_is_the_part(paths, parts):
    found = path_parts(paths)
    assert (found and [found.part_of(path) for path in paths]) == parts
