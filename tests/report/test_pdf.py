"""The PDF: text that can be selected, fonts inside, the project attached."""

from __future__ import annotations

import io
import re

import pytest
from pypdf import PdfReader

from tests.report.documents import HOSTILE, LONG, document_of, scored, written_run
from workbench.core.projects.project_file import parse_project
from workbench.report.write import pdf


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        run = written_run(["cat", "dog"], title="Pets")
        data = pdf(document_of(run, scored(["cat", "dog"])))
        return run, data, PdfReader(io.BytesIO(data))


def text_of(reader):
    """All texts; Inter has one letter for space and tab."""
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


def test_texts_can_be_read_back(made):
    _, data, reader = made
    text = text_of(reader)
    expected = ("Pets", "(95%", "Confusion matrix", "Model card", "workbench train pets-1")
    assert [words for words in expected if words not in text] == []
    assert len(data) < 5_000_000
    assert 3 <= len(reader.pages) <= 12


def test_all_fonts_are_inside(made):
    _, _, reader = made
    for page in reader.pages:
        for font in page["/Resources"]["/Font"].values():
            (inner,) = font.get_object()["/DescendantFonts"]
            described = inner.get_object()["/FontDescriptor"].get_object()
            assert {"/FontFile", "/FontFile2", "/FontFile3"} & set(described)


def test_the_project_is_attached(made):
    run, _, reader = made
    ((name, (text,)),) = reader.attachments.items()
    assert name == "pets-1.workbench"
    assert parse_project(text.decode(), "pdf").graph == run.folder.project().graph


def test_a_thousand_classes_with_long_names_are_printed():
    names = [f"{HOSTILE} {number} {LONG}" for number in range(1_000)]
    data = pdf(document_of(written_run(names), scored(names, images=5_000)))
    reader = PdfReader(io.BytesIO(data))
    assert len(data) < 5_000_000
    assert len(reader.pages) < 60
    text = text_of(reader)
    assert "Classes, lowest F1 first: 500 of 1,000" in text
    assert re.search(r"Mean of \d+ classes", text)
    assert "60 of 501 rows" in text
