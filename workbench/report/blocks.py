"""A report as a value: sections of blocks, with nothing of HTML or of paper in them.

All texts are plain. Those that come from files are made harmless by `plain_text`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Literal

import msgspec

from workbench.assets import resource_path

# drawing -------------------------------------------------------------------------------------
# Figures as values: rectangles, lines, texts and pixels in a plane, y downwards.
#
# A color is a token of `resources/styles/colors.json`, such as "accent", so that a page can be
# light or dark, or "#rrggbb" where it is the same in both.

Anchor = Literal["start", "middle", "end"]

_NARROW = frozenset("iljtfrI.,:;'|!()[] -")
_WIDE = frozenset("mwMW@%&—…")


class Rect(msgspec.Struct, frozen=True, kw_only=True, tag_field="mark", tag="rect"):
    """A rectangle; `title` is shown where a mouse is over it. No fill or stroke where ""."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    stroke: str = ""
    radius: float = 0.0
    opacity: float = 1.0
    title: str = ""


class Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="mark", tag="line"):
    """Straight pieces through points; with `is_smooth` S-curves from one to the next."""

    points: list[tuple[float, float]]
    stroke: str
    width: float = 1.5
    is_dashed: bool = False
    is_smooth: bool = False
    has_arrow: bool = False
    opacity: float = 1.0


class Label(msgspec.Struct, frozen=True, kw_only=True, tag_field="mark", tag="label"):
    """A text whose base line begins, is centered or ends at (x, y), turned by `turn` degrees."""

    x: float
    y: float
    text: str
    size: float = 12.0
    color: str = "text"
    anchor: Anchor = "start"
    is_bold: bool = False
    turn: float = 0.0
    title: str = ""


class Pixels(msgspec.Struct, frozen=True, kw_only=True, tag_field="mark", tag="pixels"):
    """An image as PNG, its pixels drawn as sharp squares."""

    x: float
    y: float
    width: float
    height: float
    png: bytes


Mark = Rect | Line | Label | Pixels


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """Marks in a plane of `width` × `height`; the later ones are on top."""

    width: float
    height: float
    marks: list[Mark]


def text_width(text: str, size: float) -> float:
    """About how wide a text is: fonts differ, so that room is kept on the safe side."""
    return size * sum(map(_letter_width, text))


def fitted(text: str, width: float, size: float) -> str:
    """The text, cut with "…" where it is wider than there is room."""
    if text_width(text, size) <= width:
        return text
    room = width - size
    for count, letter in enumerate(text):
        room -= size * _letter_width(letter)
        if room < 0:
            return f"{text[:count].rstrip()}…"
    return text


def _letter_width(letter: str) -> float:
    if letter in _NARROW:
        return 0.36
    if letter in _WIDE:
        return 0.9
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return 0.0 if unicodedata.combining(letter) else 0.62 if not letter.isupper() else 0.7


# palette -------------------------------------------------------------------------------------
# The colors of reports: those of the window, and those of the layer categories.

_TABLE = json.loads(resource_path("styles/colors.json").read_text(encoding="utf-8"))

LIGHT: dict[str, str] = _TABLE["light"]
DARK: dict[str, str] = _TABLE["dark"]
"""Color of each token."""

CATEGORIES: dict[str, str] = _TABLE["categories"]
"""Color of each category of layers, the same in both themes."""


# blocks --------------------------------------------------------------------------------------

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
