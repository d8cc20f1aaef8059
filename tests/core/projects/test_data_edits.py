"""Edits of a data set: what of two differs."""

from __future__ import annotations

from dataclasses import replace

from workbench.core.projects.data_edits import DataEdits, changed_images


def test_images_are_changed_by_another_label_part_or_use():
    before = DataEdits(left_out=frozenset("ab"), labels={"c": "cat"}, parts={"d": "test"})
    after = DataEdits(left_out=frozenset("a"), labels={"c": "dog", "e": "cat"}, parts={"d": "test"})
    assert changed_images(before, after) == {"b", "c", "e"}
    assert changed_images(after, after) == frozenset()
    assert changed_images(before, replace(before, parts={}, tags={"x": "dark"})) == {"d"}
