"""A table is refused by its size before anything is made of it."""

from __future__ import annotations

import pytest

from workbench.errors import DatasetError
from workbench.pictures.listed import text
from workbench.pictures.listed.given import Given


@pytest.mark.parametrize(
    ("content", "received"),
    [
        ("path,label\n" + "," * (2 << 20) + "\n", "a line of more than 1,048,576 characters"),
        ("path,label\r" + "a" * (2 << 20), "a line of more than 1,048,576 characters"),
        ("path,label\n" + "a," * 2000 + "\n", "more than 1,024 columns (line 2)"),
        ('path,label\n"' + ("a" * 1000 + '\n",b,"') * 2000 + '"', "a line of more than 1,048,576"),
        ("path,label\n" + "a.png,b\n" * 20, "more than 10 rows"),
        ("path,label\n" + "a,b,c,d\n" * 9, "more than 30 cells"),
    ],
)
def test_a_table_that_is_too_large_is_refused_in_words(tmp_path, monkeypatch, content, received):
    monkeypatch.setattr(text, "MAX_ROWS", 10)
    monkeypatch.setattr(text, "MAX_CELLS", 30 if "a,b,c,d" in content else text.MAX_CELLS)
    (tmp_path / "x.csv").write_text(content)
    with pytest.raises(DatasetError) as caught:
        text.read_lines(tmp_path / "x.csv", Given())
    assert caught.value.received.startswith(received)
    assert "at most" in caught.value.expected


def test_a_long_row_within_the_limits_is_read(tmp_path):
    row = ",".join(["a.png", "b", *map(str, range(1000))])
    (tmp_path / "x.csv").write_text(f"{row}\n" * 3)
    assert len(text.read_lines(tmp_path / "x.csv", Given()).lines[0][1]) == 1002
