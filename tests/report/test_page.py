"""The HTML file: complete, self-contained, and harmless whatever is in the run."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace

import msgspec
import pytest

from tests.report.documents import (
    HOSTILE,
    LONG,
    RIGHT_TO_LEFT,
    page_of,
    scored,
    written_run,
)
from workbench.core.evaluation.significance import wilson_interval
from workbench.core.format import share
from workbench.core.projects.project_file import parse_project
from workbench.runs.store.notes import CardText, change_notes

SECTIONS = ["Summary", "Network", "Training", "Test", "Examples", "Data", "Model card"]


def test_all_sections_are_there_and_every_element_is_closed():
    data, page = page_of(written_run(), scored(["cat", "dog"]))
    assert page.broken == page.open == []
    assert [title for title in SECTIONS if title not in page.texts] == []
    assert len(page.all("svg")) == 3  # network, curves, confusion matrix
    assert len(data) < 1_000_000


def test_nothing_comes_from_elsewhere_and_nothing_runs():
    data, page = page_of(written_run(), scored(["cat", "dog"]))
    assert not page.all("script")
    assert not page.all("link")
    assert not page.all("iframe")
    (policy,) = (each["content"] for each in page.all("meta") if "http-equiv" in each)
    assert policy.startswith("default-src 'none'; img-src data:;")
    style = re.search("<style>(.*?)</style>", data.decode(), re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy
    for _, attributes in page.elements:
        assert not [key for key in attributes if key.startswith("on") or key == "style"]
        for key in ("src", "href", "xlink:href"):
            assert attributes.get(key, "#").startswith(("#", "data:"))
    assert "url(" not in style
    assert "@import" not in style


def test_images_and_figures_have_texts_and_tables_have_headings():
    _, page = page_of(written_run(), scored(["cat", "dog"]))
    assert all(image["alt"] for image in page.all("img"))
    assert all(drawing["aria-label"] for drawing in page.all("svg"))
    assert {head["scope"] for head in page.all("th")} == {"col", "row"}
    assert len(page.all("caption")) == len(page.all("table")) > 0


@pytest.mark.parametrize("name", [HOSTILE, RIGHT_TO_LEFT, LONG, "\x00\x1b[31m", '" onload="x', ""])
def test_names_from_files_stay_texts(name):
    names = [name, "dog"]
    run = written_run(names, title=name or "x")
    change_notes(run.folder, title=name, text=name, card=CardText(intended_use=name))
    data, page = page_of(run, scored(names))
    assert page.broken == page.open == []
    assert not page.all("script")
    assert not [a for _, a in page.elements if any(key.startswith("on") for key in a)]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", data.decode())
    if name == HOSTILE:
        assert HOSTILE in page.texts


def test_a_thousand_classes_stay_small_and_readable():
    names = [f"{HOSTILE} {number} {LONG}" for number in range(1_000)]
    data, page = page_of(written_run(names), scored(names, images=10_000))
    assert len(data) < 5_000_000
    assert page.broken == []
    assert len(page.all("image")) == 1  # the matrix is pixels
    assert len(page.all("details")) == 1


def test_the_project_in_the_page_is_the_runs_own():
    run = written_run()
    _, page = page_of(run)
    (link,) = (each for each in page.all("a") if "download" in each)
    text = base64.b64decode(link["href"].split(",")[1]).decode()
    assert parse_project(text, "page").graph == run.folder.project().graph
    assert f"workbench train {link['download']}" in page.text


def test_test_accuracy_has_its_interval():
    _, page = page_of(written_run())
    assert "Of 200 test images it classifies 75.0% correctly" in page.text
    assert "95% interval: 68.6% to 80.5%" in page.text


def test_balanced_and_top_k_accuracy_are_beside_the_accuracy():
    found = scored(["ant", "bee", "cat", "dog"])
    result = msgspec.structs.replace(found.result, top_k_accuracy={3: 0.955})
    _, page = page_of(written_run(), replace(found, result=result))
    recalls = [score.recall for score in result.per_class]
    balanced = f"balanced accuracy {share(sum(recalls) / 4)}; top-3 accuracy 95.5%; loss 0.7"
    assert (
        f"95% interval {share(wilson_interval(round(result.accuracy * 400), 400)[0])}" in page.text
    )
    assert balanced in page.text


def test_it_is_said_where_the_test_images_were_also_validated_on():
    found = scored(["cat", "dog"])
    result = msgspec.structs.replace(found.result, is_validated_on_test=True)
    _, page = page_of(written_run(), replace(found, result=result))
    (words,) = (text for text in page.texts if text.startswith("Test accuracy "))
    assert words.endswith("on new images the scores may be lower.")


def test_what_people_wrote_is_in_the_model_card():
    run = written_run()
    change_notes(run.folder, card=CardText(limits="Only indoor cats."))
    _, page = page_of(run)
    assert "Only indoor cats." in page.text
    assert "Not filled in: who is to use it for what, and what it is not for." in page.text
