"""Edits of a data set: what of two differs."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest

from workbench.core.projects.data_edits import DataEdits, changed_images, read_edits


def test_images_are_changed_by_another_label_part_or_use():
    before = DataEdits(left_out=frozenset("ab"), labels={"c": "cat"}, parts={"d": "test"})
    after = DataEdits(left_out=frozenset("a"), labels={"c": "dog", "e": "cat"}, parts={"d": "test"})
    assert changed_images(before, after) == {"b", "c", "e"}
    assert changed_images(after, after) == frozenset()
    assert changed_images(before, replace(before, parts={}, tags={"x": "dark"})) == {"d"}


def test_names_of_classes_are_composed_as_sources_give_them():
    """Earlier versions kept the decomposed names of macOS."""
    decomposed = unicodedata.normalize("NFD", "Löwe")
    plain = {"classes": {decomposed: "Großkatze"}, "labels": {"0" * 32: decomposed}}
    edits = read_edits(plain, pytest.fail)
    assert edits.classes == {"Löwe": "Großkatze"}
    assert edits.labels == {"0" * 32: "Löwe"}
