"""Matching of the layers of a weights file with those of a network.

What says so, in this order: the network that the file describes, where it does; the names, where
both sides have the same ones; the order of the layers, where only one fits. Where layers could be
exchanged, that is a doubt and not a match.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.worker.foreign.file_layers import (
    AUTOMATIC,
    MOST_DIFFERENCES,
    MOST_NAME,
    MOST_NAMES,
    FileLayers,
    Layer,
    Matched,
    Network,
    Pairs,
    arranged,
    differences_of,
    group_words,
    pair_words,
)
from workbench.worker.foreign.same_network import match_calls


def match_layers(file: FileLayers, network: Network) -> Matched:
    """Finds the layer of the file for each layer of the network."""
    found = _by_structure(file, network)
    if found is None:
        found = _by_names(file, network) or _by_order(file, network)
    return found


def match_in_order(file: FileLayers, ours: Sequence[Layer]) -> Matched:
    """The same where the order is known to be that of the network."""
    if len(file.layers) == len(ours):
        pairs = list(zip(file.layers, ours, strict=True))
        if all(layer.forms == own.forms for layer, own in pairs):
            return Matched(pairs, "order")
    return Matched(differences=differences_of(file.layers, ours))


# by the network in the file -------------------------------------------------------------


def _by_structure(file: FileLayers, network: Network) -> Matched | None:
    """By the network that the file describes; None where it is another one, or not described."""
    places = match_calls(network.calls, file.calls) if file.calls else None
    if places is None:
        return None
    by_path = {layer.path: layer for layer in file.layers}
    by_name = {(layer.place, layer.name): layer for layer in file.layers}
    own = {layer.name: layer for layer in network.layers}
    pairs: Pairs = []
    for call, place in zip(network.calls, places, strict=True):
        if not call.path or call.names[-1] not in own:
            continue
        theirs = file.calls[place]
        inside = (theirs.names[0] if len(theirs.names) > 1 else "", theirs.names[-1])
        layer = by_path.get(theirs.path) or by_name.get(inside) or by_name.get(("", inside[0]))
        if layer is None or arranged(layer, own[call.names[-1]]) is None:
            return None
        pairs.append((layer, own[call.names[-1]]))
    used = {id(layer) for layer, _ in pairs}
    if len(pairs) < len(own) or any(id(layer) not in used for layer in file.layers):
        return None
    is_named = all(layer.name == wanted.name for layer, wanted in pairs)
    doubts = [*_image_doubts(file, network), *_other_names(pairs, own)]
    return Matched(pairs, "names" if is_named else "structure", doubts)


def _other_names(pairs: Pairs, own: Mapping[str, Layer]) -> Iterator[str]:
    """That names stand elsewhere than in the network, where people gave them."""
    moved = [
        f"“{layer.name[:MOST_NAME]}” is “{wanted.name}” here"
        for layer, wanted in pairs
        if layer.name != wanted.name and layer.name in own and not _is_automatic(layer, own)
    ]
    if moved:
        yield (
            "Layers were matched by the network in the file, in which their names stand elsewhere: "
            f"{', '.join(moved[:MOST_NAMES])}."
        )


# by names ----------------------------------------------------------------------------


def _by_names(file: FileLayers, network: Network) -> Matched | None:
    """By the names, where both sides have the same ones; None where they have not."""
    own = {layer.name: layer for layer in network.layers}
    names = [layer.name for layer in file.layers]
    if len({*names}) < len(names) or {*names} != own.keys():
        return None
    pairs = [(layer, own[layer.name]) for layer in file.layers]
    wrong = [pair for pair in pairs if arranged(*pair) is None]
    if not wrong and not (moved := _out_of_order(file, network, pairs)):
        return Matched(pairs, "names", _structure_doubts(file, network))
    if wrong and all(_is_automatic(layer, own) for layer, _ in wrong):
        return None  # numbers of another session of Keras
    words = [pair_words(*pair) for pair in wrong] if wrong else moved
    return Matched(differences=words[:MOST_DIFFERENCES])


def _is_automatic(layer: Layer, own: Mapping[str, Layer]) -> bool:
    """Whether Keras gave the name of a layer: it says nothing but the class."""
    stem = AUTOMATIC.fullmatch(layer.name)
    kinds = {each.kind for each in own.values()} | {layer.kind, ""}
    return stem is not None and stem[1] in kinds


def _out_of_order(file: FileLayers, network: Network, pairs: Pairs) -> list[str]:
    """The layers that lead to each other the other way round in file and network."""
    found, before = [], defaultdict[Any, list[tuple[Layer, Layer]]](list)
    for layer, own in pairs:
        if layer.place in file.unordered:
            continue
        series = layer.place if file.has_order else (layer.place, layer.kind)
        above = next(
            (each for each in before[series] if own.name in network.above[each[1].name]), None
        )
        if above is not None:
            found.append(
                f"“{above[0].name[:MOST_NAME]}” before “{layer.name[:MOST_NAME]}” in the file, "
                f"“{own.name}” before “{above[1].name}” in the model"
            )
        before[series].append((layer, own))
    return found


# by order -----------------------------------------------------------------------------


def _by_order(file: FileLayers, network: Network) -> Matched:
    """By the order of the layers of the same form, and by names that people gave to both."""
    own = {layer.name: layer for layer in network.layers}
    named = [
        (layer, own[layer.name])
        for layer in file.layers
        if layer.name in own and not _is_automatic(layer, own)
    ]
    wrong = [pair_words(*pair) for pair in named if arranged(*pair) is None]
    if wrong:
        return Matched(differences=wrong[:MOST_DIFFERENCES])
    taken = {id(layer) for pair in named for layer in pair}
    theirs = [layer for layer in file.layers if id(layer) not in taken]
    ours = [layer for layer in network.layers if id(layer) not in taken]
    groups, other = _grouped(theirs, ours), _grouped(ours, theirs)
    if any(len(groups[key]) != len(other[key]) for key in {*groups, *other}):
        return Matched(differences=differences_of(file.layers, network.layers))
    pairs = [
        *named,
        *(pair for key in groups for pair in zip(groups[key], other[key], strict=True)),
    ]
    pairs.sort(key=lambda pair: file.layers.index(pair[0]))
    wrong = _out_of_order(file, network, pairs) or [
        f"{group_words(group)}: in several models within the model, whose order is not known"
        for group in groups.values()
        if not file.has_order and len({layer.place for layer in group}) > 1
    ]
    if wrong:
        return Matched(differences=wrong[:MOST_DIFFERENCES])
    doubtful = [
        group_words(groups[key])
        for key in groups
        if len(other[key]) > 1 and _is_doubtful(file, network, groups[key], other[key])
    ]
    return Matched(pairs, "order", _structure_doubts(file, network), doubtful)


def _grouped(layers: Sequence[Layer], others: Sequence[Layer]) -> dict[Any, list[Layer]]:
    """The layers that match each other by what is known of both sides, in their order."""
    has_kinds = all(layer.kind for layer in (*layers, *others))
    has_bases = all(layer.bases for layer in (*layers, *others))
    groups = defaultdict[Any, list[Layer]](list)
    for layer in layers:
        forms = zip(layer.bases, layer.forms, strict=True) if has_bases else layer.forms
        key = (tuple(sorted(forms)) if has_bases else tuple(forms), layer.kind if has_kinds else "")
        groups[key].append(layer)
    return groups


def _is_doubtful(
    file: FileLayers, network: Network, theirs: Sequence[Layer], ours: Sequence[Layer]
) -> bool:
    """Whether layers of the same form could be exchanged: the order in the file says nothing, or is
    one of several that the network allows.
    """
    if any(layer.place in file.unordered for layer in theirs):
        return True
    pairs = ((one, other) for number, one in enumerate(ours) for other in ours[number + 1 :])
    return any(network.can_be_exchanged(one, other) for one, other in pairs)


def _structure_doubts(file: FileLayers, network: Network) -> list[str]:
    """How the network in the file differs, where it describes one."""
    if file.described.why_unknown:
        words = "The network in the file cannot be compared with that of the project; its outputs"
        return [f"{words} may be others ({file.described.why_unknown[:MOST_NAME]})."]
    if not file.calls:
        return []
    theirs = Counter(call.label for call in file.calls)
    ours = Counter(call.label for call in network.calls)
    more = [f"{_label_words(label)} in the file" for label in theirs - ours]
    more += [f"{_label_words(label)} in the project" for label in ours - theirs]
    listed = "; ".join(more[:MOST_NAMES]) or "its layers are connected in another way"
    words = "The network in the file is not that of the project; its outputs may be others"
    return [f"{words}: {listed}.", *_image_doubts(file, network)]


def _image_doubts(file: FileLayers, network: Network) -> list[str]:
    """That the network in the file takes images of another size."""
    theirs, ours = file.described.image, network.described.image
    if all(one is None or one == other for one, other in zip(theirs, ours, strict=False)):
        return []
    sizes = [" × ".join(map(str, (each or "any" for each in shape))) for shape in (theirs, ours)]
    return [f"The network in the file takes images of {sizes[0]}, that of the project {sizes[1]}."]


def _label_words(label: tuple[str, frozenset[tuple[str, Any]]]) -> str:
    name, params = label
    shown = ", ".join(f"{key}={value}" for key, value in sorted(params, key=str)[:3])
    return f"{name[:MOST_NAME]} ({shown[:80]})" if shown else name[:MOST_NAME]
