"""A run is trained, its model card filled in, and its report written, all by mouse and keyboard."""

from __future__ import annotations

import pytest

from tests.report.documents import Page

pytestmark = [pytest.mark.full, pytest.mark.end2end, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(at_screen, tmp_path_factory):
    """What the user saw."""
    return at_screen("report_writer", str(tmp_path_factory.mktemp("reports")))


def test_the_page_has_figures_examples_and_the_model_card(seen):
    page = Page(seen["html"].encode())
    assert len(page.all("svg")) == 3
    assert len(page.all("img")) > 8
    assert "For a lesson" in page.texts


def test_the_pdf_was_written_too(seen):
    assert seen["paper"] == "%PDF-"


def test_the_window_never_loaded_tensorflow(seen):
    assert seen["has_tensorflow"] is False
