"""Help pages: words from resources/help, the table of parameters from the layer's SPEC."""

from __future__ import annotations

import re

from workbench.assets import help_path
from workbench.core.params import Param
from workbench.core.registry import Registry
from workbench.core.specs import CATEGORIES, LayerSpec

GENERAL_PAGES = (
    ("getting_started", "Getting started"),
    ("data", "Your own pictures"),
    ("training", "Training and its curves"),
    ("layers_overview", "Which layer when"),
)

_PLACES = {
    "model": "It is part of the network.",
    "pipeline": "It runs while the pictures are prepared, only in training, never when "
    "classifying.",
    "either": "Right behind Input it runs while the pictures are prepared; elsewhere it is "
    "part of the network.",
}


def page_markdown(key: str, layers: Registry[LayerSpec]) -> str:
    """A help page as Markdown; a layer's page ends with its parameters.

    Raises:
        RegistryError: there is no such page.
    """
    words = help_path(key).read_text(encoding="utf-8")
    spec = layers.get(key)
    return words if spec is None else layer_markdown(spec, words)


def layer_markdown(spec: LayerSpec, words: str) -> str:
    """The whole page of a layer out of its SPEC and its words."""
    lines = [
        f"# {spec.title}",
        f"*{CATEGORIES.get(spec.category, spec.category)}*",
        spec.summary,
        words.strip(),
        _PLACES[spec.place],
    ]
    if spec.params:
        lines += ["## Parameters", parameter_table(spec.params)]
    lines.append(f"In Keras: `keras.layers.{spec.title}`")
    return "\n\n".join(lines) + "\n"


def parameter_table(params: tuple[Param, ...]) -> str:
    """Name, default, what is allowed, and what it does, a row for each parameter."""
    rows = ["| Parameter | Default | Allowed | What it does |", "|---|---|---|---|"]
    for param in params:
        cells = (
            f"{param.title} (`{param.key}`)",
            param.show(param.default),
            param.expected(),
            param.help,
        )
        rows.append("| " + " | ".join(_cell(text) for text in cells) + " |")
    return "\n".join(rows)


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|") or "–"
