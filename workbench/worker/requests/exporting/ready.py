"""What is beside an exported model in a ready folder: facts, script, README, license."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from workbench import __version__
from workbench.core.outside_text import markdown_code, markdown_text, one_line
from workbench.core.specs import ExportReader, ExportSpec
from workbench.datasets import all_datasets
from workbench.exports import FACTS_FORMAT
from workbench.programs.reader import reader_imports, reader_source, sort_imports
from workbench.programs.texts import comment_text, fill, literal, sections
from workbench.runs.model_card import ModelCard

README_NAME = "README.md"
LICENSE_NAME = "LICENSE.txt"
_IMPORT = ("import ", "from ")
_STANDARD = ("argparse", "json", "pathlib", "sys")
"""Modules that every script needs..."""

_SOMETIMES = ("os", "runpy", "shutil", "subprocess", "tempfile")
"""...and those that some need."""

_THIRD_PARTY = ("import numpy", "from PIL")


class ExportFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a program has to know of an exported model.

    Attributes:
        class_names: In the order of the answers.
        input_shape: (height, width, channels) of an image of numbers 0 to 255.
        fit: How an image of other proportions is brought to that: crop, stretch or pad.
        value_range: Black and white of images of more than 8 bits, e.g. "0-4095"; "" by the numbers
            of each.
        is_logits: A softmax is to be applied to the answers.
        temperature: The calibration's temperature, by which logarithms of the probabilities are
            divided. None where there is none, or it is in the model.
        least_probability: Below it the answer is "unknown".
        checksum: SHA-256 of the run's weights.
    """

    title: str
    class_names: list[str]
    input_shape: list[int]
    fit: str
    is_logits: bool
    temperature: float | None
    least_probability: float
    dataset: str
    checksum: str
    value_range: str = ""
    made_by: str = f"Workbench {__version__}"
    format: str = FACTS_FORMAT
    version: int = 1


def facts_name(name: str) -> str:
    """The name of the file of facts beside a model's file or folder."""
    return f"{name}.json"


def facts_of(card: ModelCard, spec: ExportSpec) -> ExportFacts:
    """The facts of a model in a format that has a reader."""
    found = card.calibration
    is_inside = inner_temperature(card, spec) is not None
    is_probable = spec.reader is not None and spec.reader.has_softmax
    return ExportFacts(
        title=card.title,
        class_names=card.class_names,
        input_shape=card.input_shape,
        fit=card.fit,
        value_range=card.value_range,
        is_logits=card.is_logits and not is_probable,
        temperature=found.temperature if found is not None and not is_inside else None,
        least_probability=(found.least_probability or 0.0) if found is not None else 0.0,
        dataset=card.dataset_title,
        checksum=card.checksum,
    )


def inner_temperature(card: ModelCard, spec: ExportSpec) -> float | None:
    """By what the logits are divided in the model itself; None where they are not."""
    if spec.reader is None or not spec.reader.has_temperature or card.calibration is None:
        return None
    return card.calibration.temperature


def write_facts(context: Any, path: Path) -> None:
    """Writes the facts beside a model.

    Args:
        context: An ExportContext.
        path: Path of the model.
    """
    path.with_name(facts_name(path.name)).write_bytes(context.facts_json())


def write_scripts(context: Any, path: Path) -> None:
    """Writes the program that classifies with a model, and what belongs to it.

    Args:
        context: An ExportContext.
        path: Path of the model.
    """
    card: ModelCard = context.card
    reader: ExportReader = context.spec.reader
    texts = sections(*reader.runtime.texts)
    settings = texts.get(f"{reader.section}_settings", "")
    section = texts[reader.section] if reader.section else ""
    standard, imports, reading = _imports(section, settings)
    values = {
        "title": comment_text(card.title) or "A network",
        "file": comment_text(path.name),
        "file_literal": literal(path.name),
        "script": reader.runtime.script,
        "facts": facts_name(path.name),
        "facts_literal": literal(facts_name(path.name)),
        "setup": reader.runtime.setup,
        "start": reader.runtime.start,
        "standard_imports": standard,
        "settings": settings and f"{settings.strip()}\n\n",
        "imports": imports,
        "image_reader": reader_source(),
        **reader.values(context, path),
    }
    values["reading"] = fill(reading, values)
    for name, section in reader.runtime.scripts.items():
        path.with_name(name).write_text(fill(texts[section], values), encoding="utf-8")


def _imports(section: str, settings: str) -> tuple[str, str, str]:
    """The imports of a script from Python's library, and the others: those with which a section
    begins, and those of all scripts, as formatters sort them; and the rest of the section.
    `settings` come before the others.
    """
    lines = section.splitlines(keepends=True)
    number = next((n for n, line in enumerate(lines) if not line.startswith(_IMPORT)), len(lines))
    rest = "".join(lines[number:]).lstrip("\n")
    needed = [name for name in _SOMETIMES if f"{name}." in settings + rest]
    standard = {f"import {name}" for name in (*_STANDARD, *needed)}
    others = {line.rstrip() for line in lines[:number]}
    for line in reader_imports():
        (others if line.startswith(_THIRD_PARTY) else standard).add(line)
    return "\n".join(sort_imports(standard)), "\n".join(sort_imports(others)), rest


def write_texts(context: Any, path: Path) -> None:
    """Writes README and license of a ready folder beside its model."""
    card: ModelCard = context.card
    spec: ExportSpec = context.spec
    assert spec.reader is not None  # noqa: S101 - for the type
    facts, texts = facts_of(card, spec), sections("classify.txt")
    runtime = spec.reader.runtime
    height, width, channels = card.input_shape
    values = {
        "title": markdown_text(card.title) or "A network",
        "file": markdown_code(path.name),
        "summary": spec.summary,
        "script": runtime.script,
        "setup": runtime.setup,
        "start": runtime.start,
        "about": f"{about}\n\n" if (about := runtime.about(context, path)) else "",
        "runtime_license": runtime.license,
        "files": _file_list(spec.reader, spec.title, path),
        "height": height,
        "width": width,
        "channels": channels,
        "order": ", red first" if channels == 3 else "",
        "fit": card.fit,
        "output": "scores, to be put through a softmax," if facts.is_logits else "probabilities",
        "num_classes": len(card.class_names),
        "facts": markdown_code(facts_name(path.name)),
        "calibration": _calibration(facts, runtime.script, inner_temperature(card, spec)),
        "images": _images_license(card),
        "pretrained": "\n".join(context.licenses),
    }
    for name, section in ((README_NAME, "readme"), (LICENSE_NAME, "license")):
        text = fill(texts[section], values).rstrip("\n") + "\n"
        path.with_name(name).write_text(text, encoding="utf-8")


def _file_list(reader: ExportReader, title: str, path: Path) -> str:
    """What is in a ready folder, a line each."""
    about = {
        path.name: title,
        facts_name(path.name): "class names, image shape, calibration",
        reader.runtime.script: "classifies image files",
        **reader.files(path),
        LICENSE_NAME: "what the files may be used for",
    }
    there = {entry.name for entry in path.parent.iterdir()} | {LICENSE_NAME}
    shown = {name: words for name, words in about.items() if name in there}
    return "\n".join(f"- {markdown_code(name)}: {words}" for name, words in shown.items())


def _images_license(card: ModelCard) -> str:
    """Under which license the training images are, as far as Workbench knows."""
    spec = all_datasets().get(str(card.dataset.get("key", "")))
    named = one_line(card.dataset_title)
    if spec is not None and spec.license:
        return f"{named or spec.title} (license: {spec.license})."
    title = f" ({named})" if named else ""
    return f"images of their own choice{title}, whose license is not known to Workbench: ask them."


def _calibration(facts: ExportFacts, script: str, inside: float | None) -> str:
    words = []
    if inside:
        words.append(f"They are calibrated: the model divides its logits by {inside:.3f}.")
    if facts.temperature:
        words.append(
            f"They are calibrated by {script}: raised to the power of 1 / "
            f"{facts.temperature:.3f} (`temperature`) and divided by their sum."
        )
    if facts.least_probability:
        words.append(
            f"Below a probability of {facts.least_probability:g} (`least_probability`) the answer "
            "is “unknown”. That an image is unlike the training images is known to Workbench alone."
        )
    else:
        words.append("Every image gets one of these classes, also one that shows none of them.")
    return "\n".join(words)
