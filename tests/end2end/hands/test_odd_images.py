"""Images in odd formats and broken files dropped on Classify: each by its manifest."""

from __future__ import annotations

import csv

import pytest

from workbench.pictures.folders import list_pictures

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]


def test_each_file_is_classified_or_named_as_unreadable(at_screen, shared_data):
    folder = (shared_data / "odd_images").resolve()
    with (folder / "manifest.csv").open(encoding="utf-8") as file:
        decodes = {row["file"].rpartition("/")[2]: row["decode"] for row in csv.DictReader(file)}
    answers = at_screen("hands.odd_images", str(folder))["answers"]
    assert answers.keys() == {path.name for path in list_pictures(folder, is_deep=True)}
    for name, answer in answers.items():
        if decodes[name] != "maybe":
            assert answer.startswith("error: ") == (decodes[name] == "no"), (name, answer)
