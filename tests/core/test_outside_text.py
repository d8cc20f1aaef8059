"""Names from elsewhere in what is printed, listed and generated."""

from __future__ import annotations

import csv
import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.outside_text import (
    cell_text,
    csv_cells,
    decoded,
    escaped,
    folder_letters,
    markdown_code,
    markdown_text,
    one_line,
    tab_cells,
    text_of_cell,
)

MOVING = "\x1b[2J\r\n\x9b1m\u2028\u202e\u200b\u2066\ufeff\x00"
"""A terminal escape, new lines, a C1 escape, and letters that turn or hide text."""


@given(st.text())
def test_every_text_is_one_line_of_letters_that_are_seen(text):
    for shown in (one_line(text), escaped(text), cell_text(text), markdown_text(text)):
        kinds = {unicodedata.category(c) for c in shown} - {"Lu", "Ll"}
        assert not kinds & {"Cc", "Zl", "Zp", "Cs", "Co", "Cn"}
        assert all(c in "\u200c\u200d" for c in shown if unicodedata.category(c) == "Cf")


@given(st.lists(st.one_of(st.text(), st.integers(), st.floats(allow_nan=False)), min_size=1))
def test_cells_are_one_line_and_come_back(cells):
    line = csv_cells(cells)
    assert len(line.splitlines()) <= 1
    (row,) = csv.reader([line])
    expected = [cell_text(cell) if isinstance(cell, str) else str(cell) for cell in cells]
    assert row == expected


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_no_text_is_a_formula_of_a_spreadsheet(start):
    text = f'{start}cmd|"/c calc"!A1'
    assert cell_text(text) == f"'{text}"
    assert text_of_cell(cell_text(text)) == text
    assert cell_text(f"\t{text}").startswith("\\t")


@given(st.text() | st.text("\\\\nrtxuU0a\n\x1b\u202e='"))
def test_a_cell_is_read_back_as_the_text_that_was_written(text):
    assert text_of_cell(cell_text(text)) == text or text.startswith("'")


def test_cells_of_the_clipboard_stay_in_their_line_and_are_no_formulas():
    assert tab_cells(["a\tb\nc", "=1+1", "ok"]) == "a\\tb\\nc\t'=1+1\tok"


def test_a_number_below_zero_is_no_formula():
    assert csv_cells([-0.25, Decimal("-1e-5"), None]) == "-0.25,-0.00001,"


def test_different_texts_stay_different():
    assert len({escaped("a\nb"), escaped("a\rb"), escaped("a b"), escaped("a\u202eb")}) == 4
    assert escaped(MOVING).isprintable()


def test_words_of_markdown_are_no_links_pictures_or_html():
    text = "x\n# [a](http://b) ![c](d) <img src=e> `f` *g*"
    assert markdown_text(text) == (r"x \# \[a\]\(http://b\) \!\[c\]\(d\) \<img src=e\> \`f\` \*g\*")
    assert markdown_code("a`b``c") == "```a`b``c```"
    assert markdown_code("`a`") == "`` `a` ``"


def test_names_of_folders_have_no_letters_that_are_not_seen():
    assert folder_letters("ca\u200bts\u202e\u200d") == "cats"
    persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert folder_letters(persian) == persian


@pytest.mark.parametrize(
    ("left", "text"),
    [
        ("caf\udcc3\udca9.png", "café.png"),  # UTF-8, as the locale "C" hands it over
        ("caf\udce9.png", r"caf\xe9.png"),  # Latin-1
        ("half\ud800.png", r"half\ud800.png"),  # half of a pair: no byte of a path
        ("café.png", "café.png"),
    ],
)
def test_what_was_left_undecoded_is_text(left, text):
    assert decoded(left) == text
    assert one_line(left) == text
