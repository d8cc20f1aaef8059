"""Layer types and pretrained networks as lists show them: by category, or by what was typed.

Qt-free.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from workbench.core.format import short
from workbench.core.registry import Registry
from workbench.core.specs import CATEGORIES, BackboneSpec, LayerSpec

BACKBONE_CATEGORY = "backbone"
"""The category of pretrained networks, which have their own icon and color."""

_SCATTERED, _NOT_AT_ALL = 5, 6
COMMON = "common"
"""The first group of the palette: its layers are in their own categories, too."""

_BACKBONE_WORDS = "backbone pretrained imagenet"
"""What people type who look for one, but do not know its name."""

_KERAS = re.compile(r"(?:\w+\s*=\s*)?(?:\w+\.add\(\s*)?(?:[^\W\d]\w*\.)*(\w+)(?:\(.*)?", re.DOTALL)
"""A line of a Keras program that makes a layer: "x = layers.Conv2D(32, (3, 3))(x)"."""


def searched(text: str) -> str:
    """What was typed, in small letters; of a line of Keras code the layer's name."""
    line = _KERAS.fullmatch(text.strip())
    return (line[1] if line else text).strip().lower()


def arguments_note(text: str) -> str:
    """Note that the arguments in a line of Keras code are not taken over; "" where it has none."""
    line = _KERAS.fullmatch(text.strip())
    has_any = line is not None and re.search(rf"\b{line[1]}\(\s*[^\s)]", text) is not None
    return "Added with default settings, not those in the code" if has_any else ""


def common_layers(layers: Registry[LayerSpec]) -> list[LayerSpec]:
    """The layer types that most networks have, in the order in which they come there."""
    return sorted(
        (spec for spec in layers.values() if spec.common_rank is not None),
        key=lambda spec: spec.common_rank or 0,
    )


def by_category(layers: Registry[LayerSpec]) -> Iterator[tuple[str, str, list[LayerSpec]]]:
    """(key, title, layer types by name) of each category that has any, in their order."""
    for category, title in CATEGORIES.items():
        specs = [spec for spec in layers.values() if spec.category == category]
        if specs:
            yield category, title, sorted(specs, key=lambda spec: spec.title)


def find_layers(
    layers: Registry[LayerSpec], text: str, *, needs_input: bool = False
) -> list[LayerSpec]:
    """Layer types that match a search, best first.

    Args:
        layers: All there are.
        text: Words that all must fit; where it is empty, the common ones come first and the
            others by category. A line of Keras code is looked for by its layer.
        needs_input: Leaves out those that nothing can lead into.
    """
    words = searched(text).split()
    known = [spec for spec in layers.values() if spec.max_inputs != 0 or not needs_input]
    ranks = {spec.key: [_rank(spec, word) for word in words] for spec in known}
    found = [spec for spec in known if _NOT_AT_ALL not in ranks[spec.key]]
    # Scattered letters fit many names: they count only where nothing else does.
    better = [spec for spec in found if _SCATTERED not in ranks[spec.key]]
    return sorted(
        better or found,
        key=lambda spec: (sum(ranks[spec.key]), *_place(spec, is_search=bool(words))),
    )


def find_backbones(backbones: Registry[BackboneSpec], text: str) -> list[BackboneSpec]:
    """The pretrained networks that all words of a text fit, in their order."""
    words = searched(text).split()
    specs = sorted(backbones.values(), key=lambda spec: spec.order)
    known = ((f"{spec.title} {spec.key} {_BACKBONE_WORDS}".lower(), spec) for spec in specs)
    return [spec for text, spec in known if all(word in text for word in words)]


def best_first(
    layers: Sequence[LayerSpec], backbones: Sequence[BackboneSpec], text: str
) -> list[LayerSpec | BackboneSpec]:
    """What was found as one list: a pretrained network is in front where its name begins with what
    was typed, and that of no layer does.
    """
    typed = searched(text)
    is_layer = bool(layers) and layers[0].title.lower().startswith(typed)
    named = [spec for spec in backbones if spec.title.lower().startswith(typed)]
    front = [] if is_layer else named
    return [*front, *layers, *(spec for spec in backbones if spec not in front)]


def backbone_size(spec: BackboneSpec) -> str:
    """How large a pretrained network is, and what comes out of it."""
    return f"{short(spec.num_parameters)} parameters, {spec.num_features:,} features"


def backbone_facts(spec: BackboneSpec) -> str:
    """What a pretrained network is, in three lines."""
    height, width, _ = spec.input_shape
    return (
        f"{spec.title}: pretrained on ImageNet\n{spec.summary}\n"
        f"{backbone_size(spec)}, usual images {height} × {width}"
    )


def _place(spec: LayerSpec, *, is_search: bool) -> tuple[int, int, str]:
    """Orders layer types that fit equally well."""
    order = list(CATEGORIES)
    place = order.index(spec.category) if spec.category in order else len(order)
    if is_search:
        return (place, len(spec.title), spec.title)
    if spec.common_rank is not None:
        return (-1, spec.common_rank, spec.title)
    return (place, 0, spec.title)


def _rank(spec: LayerSpec, word: str) -> int:
    """How well one word fits, 0 best."""
    title = spec.title.lower()
    ways = (
        title == word,
        title.startswith(word),
        word in title or word in spec.key,
        any(word in keyword.lower() for keyword in spec.keywords),
        word in CATEGORIES.get(spec.category, "").lower(),
        _is_scattered(word, title),
    )
    return ways.index(True) if True in ways else _NOT_AT_ALL


def _is_scattered(word: str, title: str) -> bool:
    """True when the letters are in the title in this order: "bn" in BatchNormalization."""
    rest: Iterable[str] = iter(title)
    return len(word) > 1 and all(letter in rest for letter in word)
