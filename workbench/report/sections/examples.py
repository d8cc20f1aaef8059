"""Test images that it classifies wrong and right, with the heat maps of its answers."""

from __future__ import annotations

from pathlib import PurePath

from workbench.core.format import share
from workbench.protocol.trained.explain import Method
from workbench.report.blocks import Block, Gallery, Picture, Section, Text, plain_name, plain_text
from workbench.report.facts import Example, Facts, SectionSpec
from workbench.report.pictures import heat_jpeg, jpeg

_METHODS: dict[Method, str] = {
    "gradcam": "Grad-CAM",
    "gradients": "SmoothGrad",
    "occlusion": "occlusion",
}
"""Names of the methods in papers."""


def section(facts: Facts) -> Section:
    """The most confident mistakes first: they show most about data and network."""
    examples = facts.scored.examples
    if not examples:
        reason = facts.scored.problem or "The run has no trained weights, or no test images."
        words = f"No test images are shown. {plain_text(reason)}"
        return Section("Examples", [Text(words, "missing")])
    blocks: list[Block] = []
    wrong = [example for example in examples if not example.is_right]
    right = [example for example in examples if example.is_right]
    if facts.scored.method:
        method = _METHODS[facts.scored.method]
        words = (
            f"Beside an image is its heat map ({method}): the brighter a place, the more it has "
            "raised the score of the predicted class. A map without bright places found none."
        )
        blocks.append(Text(words, "note"))
    for title, group in (("Wrong, most confident first", wrong), ("Right", right)):
        if group:
            pictures = [_picture(example, facts.class_names) for example in group]
            blocks.append(Gallery(title=title, pictures=pictures))
    if not wrong:
        blocks.insert(0, Text("All test images are classified correctly."))
    return Section("Examples", blocks)


def _picture(example: Example, names: list[str]) -> Picture:
    actual, predicted = (_name(names, each) for each in (example.actual, example.predicted))
    probability = share(example.probability)
    if example.is_right:
        alt, lines = f"{actual}, classified correctly", [actual, f"probability {probability}"]
    else:
        alt = f"{actual}, classified as {predicted}"
        lines = [f"{predicted} {probability}", f"actually {actual}"]
    if example.file:
        lines.append(plain_name(PurePath(example.file).name))
    return Picture(
        jpeg=jpeg(example.pixels),
        heat_jpeg=None if example.heat is None else heat_jpeg(example.pixels, example.heat),
        alt=alt,
        lines=lines,
        tone="good" if example.is_right else "bad",
    )


def _name(names: list[str], number: int) -> str:
    return plain_name(names[number]) if 0 <= number < len(names) else f"class {number}"


SPEC = SectionSpec(key="examples", order=50, make=section)
