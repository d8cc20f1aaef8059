"""A report as a value: sections of blocks, with nothing of HTML or of paper in them.

All texts are plain. Those that come from files are made harmless by `plain_text`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

import msgspec

from workbench.report.drawing import Drawing

MAX_NAME = 200
"""Letters of a name from a file; longer ones are cut."""

_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""Control characters, marks that turn the reading direction, and what is no Unicode text."""

Role = Literal["", "lead", "strong", "note", "missing", "code", "quote"]
Tone = Literal["", "good", "bad"]


class Text(msgspec.Struct, frozen=True, tag_field="block", tag="text"):
    """A paragraph.

    Attributes:
        text: Plain text; lines are kept.
        role: "lead" for the summary, "strong" for a small heading, "note" for what is beside the
            point, "missing" for what is not there and why, "code" for a command, "quote" for what
            people wrote themselves.
    """

    text: str
    role: Role = ""


class Facts(msgspec.Struct, frozen=True, tag_field="block", tag="facts"):
    """Names and values; `is_large` for the few figures at the top."""

    rows: list[tuple[str, str]]
    is_large: bool = False


class Table(msgspec.Struct, frozen=True, kw_only=True, tag_field="block", tag="table"):
    """A table; the first cell of a row names it.

    Attributes:
        title: What it is, shown above it.
        columns: Headings.
        rows: Cells, as many as there are columns.
        num_text: How many of the first columns hold texts: the others are numbers, aligned right.
        most_printed: Rows that are printed; a page on the screen has all.
    """

    title: str
    columns: list[str]
    rows: list[list[str]]
    num_text: int = 1
    most_printed: int = 60


class Figure(msgspec.Struct, frozen=True, kw_only=True, tag_field="block", tag="figure"):
    """A drawing with a caption, and what it shows in words for those who do not see it."""

    drawing: Drawing
    caption: str
    alt: str


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """An image of a gallery.

    Attributes:
        jpeg: The file.
        alt: What it is, in words.
        lines: Below it, the first one strong.
        heat_jpeg: The same image with its heat map; None without one.
        tone: Whether the prediction is right.
    """

    jpeg: bytes
    alt: str
    lines: list[str]
    heat_jpeg: bytes | None = None
    tone: Tone = ""


class Gallery(msgspec.Struct, frozen=True, kw_only=True, tag_field="block", tag="gallery"):
    """Images side by side, with a heading."""

    title: str
    pictures: list[Picture]


Block = Text | Facts | Table | Figure | Gallery


class Section(msgspec.Struct, frozen=True):
    """A heading and what is below it."""

    title: str
    blocks: list[Block]


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A report.

    Attributes:
        title: The run.
        subtitle: Its project, and when it was trained.
        sections: The first one is the summary.
        project: Text of the project file that repeats the run; "" where there is none.
        project_name: Name for that file.
        colors: Color of each token of the drawings, on paper.
        footer: Words for the foot of each page.
    """

    title: str
    subtitle: str
    sections: list[Section]
    project: str = ""
    project_name: str = ""
    colors: dict[str, str] = {}
    footer: str = ""


def plain_text(text: str, limit: int = 100_000) -> str:
    """A text from a file without what could drive a browser, a terminal or the reading direction,
    cut after `limit` letters.
    """
    clean = unicodedata.normalize("NFC", _HARMFUL.sub("", text.replace("\r\n", "\n")))
    return clean if len(clean) <= limit else f"{clean[: limit - 1]}…"


def plain_name(text: str) -> str:
    """A name from a file in one line, of bounded length; "unnamed" where nothing is left."""
    return plain_text(" ".join(text.split()), MAX_NAME).strip() or "unnamed"
