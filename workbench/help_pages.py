"""Help pages: words from resources/help, the table of parameters from the layer's SPEC."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from workbench.assets import help_path, resource_path
from workbench.backbones import all_backbones
from workbench.core.format import bytes_text, shape_text, short
from workbench.core.params import Param
from workbench.core.registry import Registry
from workbench.core.specs import CATEGORIES, DownloadedWeights, LayerSpec

OVERVIEW = "layers_overview"
"""The page about all layers."""

BACKBONES = "pretrained"
"""The page about pretrained networks, which ends with a list of them."""

GENERAL_PAGES = (
    ("getting_started", "Getting started"),
    ("from_keras", "From Keras to Workbench"),
    ("canvas", "The canvas: add, move, connect"),
    ("groups", "Groups and frozen layers"),
    (BACKBONES, "Pretrained networks"),
    ("data", "Your own pictures"),
    ("sources", "Sources of images"),
    ("training", "Training and its curves"),
    ("runs", "Runs: pause, queue, compare"),
    ("sweep", "Sweep: compare settings"),
    ("classify", "Classifying pictures"),
    ("evaluate", "Evaluate: where does it fail?"),
    ("calibration", "Calibration and “unknown”"),
    ("what_if", "What-if and robustness"),
    ("coach", "The training coach"),
    ("explain", "Why this class? Heat maps"),
    ("feature_maps", "Feature maps and filters"),
    ("report", "Reports and model cards"),
    ("exporting", "Exporting a model"),
    (OVERVIEW, "Choosing layers"),
    ("tpu", "Training on a TPU"),
    ("preflight", "Will it train on a TPU?"),
    ("tpu-first-run", "The first run on a TPU"),
    ("notebook", "Train on Colab or Kaggle"),
    ("remote", "Training on another computer"),
    ("several_machines", "Several machines"),
)

_PLACES = {
    "model": "It is part of the model: it works in training and in classifying, and is exported.",
    "pipeline": "It runs in the input pipeline, only during training, never when classifying.",
    "either": "Right after Input it runs in the input pipeline; elsewhere it is part of the model.",
}


def page_texts(layers: Registry[LayerSpec]) -> dict[str, str]:
    """The words of all pages, in which is searched, by key."""
    return {key: page_markdown(key, layers).casefold() for key in _titles(layers)}


def _titles(layers: Registry[LayerSpec]) -> dict[str, str]:
    return dict(GENERAL_PAGES) | {spec.key: spec.title for spec in layers.values()}


def found_pages(
    words: Sequence[str], layers: Registry[LayerSpec], texts: Mapping[str, str] | None = None
) -> list[tuple[str, str]]:
    """Key and title of the pages that contain all words, those with one in the title first.

    Args:
        words: Searched for as they are written, whatever their case.
        layers: Each has a page.
        texts: `page_texts`, where it is searched more than once.
    """
    wanted = [word.casefold() for word in words]
    titles, texts = _titles(layers), page_texts(layers) if texts is None else texts
    found = [(key, title) for key, title in titles.items() if all(w in texts[key] for w in wanted)]
    return sorted(found, key=lambda page: not any(word in page[1].casefold() for word in wanted))


def page_markdown(key: str, layers: Registry[LayerSpec]) -> str:
    """A help page as Markdown; a layer's page ends with its parameters, and may have no words of
    its own. The page about pretrained networks ends with the list of them.

    Raises:
        RegistryError: there is no such page.
    """
    spec = layers.get(key)
    if spec is None:
        words = help_path(key).read_text(encoding="utf-8")
        return f"{words}\n{backbone_list()}" if key == BACKBONES else words
    page = resource_path("help") / f"{key}.md"
    return layer_markdown(spec, page.read_text(encoding="utf-8") if page.is_file() else "")


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
        lines += ["## Parameters", parameter_list(spec.params)]
    lines.append(f"In Keras: `keras.layers.{spec.title}`")
    return "\n\n".join(line for line in lines if line) + "\n"


def backbone_list() -> str:
    """Sizes and licenses of all pretrained networks, and the addresses of those to download."""
    rows = ["| Network | Images | Parameters | Features | Weights | License |"]
    rows.append("|---|---|---|---|---|---|")
    files = []
    for spec in all_backbones().values():
        weights = "included"
        if isinstance(spec.weights, DownloadedWeights):
            weights = bytes_text(spec.weights.num_bytes)
            files.append(f"- **{spec.title}** (`{spec.key}`): `{spec.weights.address}`")
        low, high = spec.input_range
        images = f"{shape_text(spec.input_shape)}, {low:g} to {high:g}"
        sizes = f"{short(spec.num_parameters)} | {spec.num_features:,}"
        rows.append(f"| {spec.title} | {images} | {sizes} | {weights} | {spec.license} |")
    return "\n".join([*rows, "", "Files to download, by key:", "", *files, ""])


def parameter_list(params: tuple[Param, ...]) -> str:
    """Name, what it does, default and what is allowed, an item for each parameter."""
    items = []
    for param in params:
        allowed = f"Default: {param.show(param.default)}. Allowed: {param.expected()}."
        items.append(f"- **{param.title}** (`{param.key}`): {_line(param.help)} *{_line(allowed)}*")
    return "\n".join(items)


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("*", "\\*").replace("_", "\\_")
