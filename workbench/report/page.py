"""A report as one HTML file: no script, nothing from elsewhere, every text escaped."""

from __future__ import annotations

import base64
import hashlib
from string import Template

from workbench.assets import resource_path
from workbench.report.blocks import (
    Block,
    Document,
    Facts,
    Figure,
    Gallery,
    Picture,
    Section,
    Table,
    Text,
)
from workbench.report.markup import Markup, element, joined
from workbench.report.palette import DARK, LIGHT
from workbench.report.svg import svg

_LONG_TABLE = 40
"""Rows from which a table is folded away."""


def page(document: Document) -> bytes:
    """The whole file, UTF-8."""
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    template = Template(resource_path("report/page.html").read_text(encoding="utf-8"))
    text = template.substitute(
        style=style,
        digest=digest,
        title=joined([document.title]),
        subtitle=joined([document.subtitle]),
        contents=_contents(document.sections),
        sections=joined(_section(number, each) for number, each in enumerate(document.sections)),
        project=_project(document),
        footer=joined([document.footer]),
    )
    return text.encode("utf-8", "replace")


def _style() -> str:
    """The style sheet, with the colors of the two themes and a class for each color of a figure."""
    light, dark = (_variables(colors) for colors in (LIGHT, DARK))
    figure = "".join(
        f".fill-{name}{{fill:var(--{name})}}.stroke-{name}{{stroke:var(--{name})}}"
        for name in LIGHT
    )
    template = Template(resource_path("report/style.css").read_text(encoding="utf-8"))
    return template.substitute(light=light, dark=dark, figure=figure)


def _variables(colors: dict[str, str]) -> str:
    return "".join(f"--{name}:{color};" for name, color in colors.items())


def _contents(sections: list[Section]) -> Markup:
    links = (
        element("li", element("a", each.title, href=f"#part-{number}"))
        for number, each in enumerate(sections)
        if number
    )
    return element("ul", joined(links))


def _section(number: int, section: Section) -> Markup:
    heading = element("h2", section.title, id=f"part-{number}")
    blocks = joined(map(_block, section.blocks))
    return element("section", heading, blocks, aria_labelledby=f"part-{number}")


def _block(block: Block) -> Markup:
    if isinstance(block, Text):
        return _text(block)
    if isinstance(block, Facts):
        return _facts(block)
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figure):
        return _figure(block)
    return _gallery(block)


def _text(block: Text) -> Markup:
    if block.role == "code":
        return element("pre", element("code", block.text))
    lines = block.text.split("\n")
    parts: list[str] = [lines[0]]
    for line in lines[1:]:
        parts += [element("br"), line]
    return element("p", *parts, class_=block.role or None, dir="auto")


def _facts(block: Facts) -> Markup:
    rows = (
        element("div", element("dt", name), element("dd", value, dir="auto"))
        for name, value in block.rows
    )
    return element("dl", joined(rows), class_="large" if block.is_large else None)


def _table(block: Table) -> Markup:
    head = joined(
        element("th", title, scope="col", class_=_alignment(block, place))
        for place, title in enumerate(block.columns)
    )
    rows = joined(_row(block, row) for row in block.rows)
    table = element(
        "table",
        element("caption", block.title),
        element("thead", element("tr", head)),
        element("tbody", rows),
    )
    scrolled = element(
        "div", table, class_="scrolled", tabindex="0", role="region", aria_label=block.title
    )
    if len(block.rows) <= _LONG_TABLE:
        return scrolled
    summary = element("summary", f"{block.title}: {len(block.rows):,} rows")
    return element("details", summary, scrolled)


def _row(block: Table, row: list[str]) -> Markup:
    first = element("th", row[0], scope="row", dir="auto")
    others = (
        element("td", cell, class_=_alignment(block, place), dir="auto")
        for place, cell in enumerate(row[1:], 1)
    )
    return element("tr", first, *others)


def _alignment(block: Table, place: int) -> str | None:
    return "number" if place >= block.num_text else None


def _figure(block: Figure) -> Markup:
    drawing = element("div", svg(block.drawing, block.alt), class_="drawing")
    return element("figure", drawing, element("figcaption", block.caption))


def _gallery(block: Gallery) -> Markup:
    pictures = joined(map(_picture, block.pictures))
    is_wide = any(picture.heat_jpeg is not None for picture in block.pictures)
    kind = "pictures wide" if is_wide else "pictures"
    return element("div", element("h3", block.title), element("div", pictures, class_=kind))


def _picture(picture: Picture) -> Markup:
    images = [_image(picture.jpeg, picture.alt)]
    if picture.heat_jpeg is not None:
        images.append(_image(picture.heat_jpeg, f"Heat map: {picture.alt}"))
    strong, *others = picture.lines
    words = [element("strong", strong, dir="auto")]
    words += [element("span", line, dir="auto") for line in others]
    return element(
        "figure",
        element("div", *images, class_="pair"),
        element("figcaption", *words),
        class_=f"picture {picture.tone}".strip(),
    )


def _image(jpeg: bytes, alt: str) -> Markup:
    return element("img", src=_data("image/jpeg", jpeg), alt=alt)


def _project(document: Document) -> Markup:
    """The link that saves the project file."""
    if not document.project:
        return Markup("")
    link = element(
        "a",
        f"Save {document.project_name}",
        href=_data("application/json", document.project.encode("utf-8", "replace")),
        download=document.project_name,
    )
    return element("p", link, class_="save")


def _data(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
