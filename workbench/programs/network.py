"""The network of an exported program: one line a layer, called on one another."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.core.specs import Role
from workbench.core.training.recipe import TrainingRecipe
from workbench.programs.code import call, literal, square, variable_names

_TAKEN = (*dir(builtins), "inputs", "front", "keras", "layer", "layers", "np", "prepared", "tf")
"""Names that the programs use otherwise."""


def names_of(calls: Sequence[Any]) -> dict[str, str]:
    """The variable that holds what comes out of each layer, by the layer's name.

    Args:
        calls: KerasCall-like objects of the whole network, in the order that data flows.
    """
    names = variable_names((call.name for call in calls), taken=_TAKEN)
    return names | {call.name: "inputs" for call in calls if call.spec.role is Role.INPUT}


def layer_lines(
    calls: Sequence[Any],
    names: Mapping[str, str],
    *,
    more: Callable[[Any], list[str]] = lambda layer: [],
    is_keras2: bool = False,
) -> list[str]:
    """A line of a function body for each layer but Input.

    Args:
        calls: The layers to write.
        names: From `names_of`, or with other variables for what is not written here.
        more: Gives a layer's further arguments, as source.
        is_keras2: The program is one for Keras 2.
    """
    return [
        _line(call, names, [*layer_words(call, is_keras2=is_keras2), *more(call)])
        for call in calls
        if call.spec.role is not Role.INPUT
    ]


def _line(layer: Any, names: Mapping[str, str], words: list[str]) -> str:
    sources = ", ".join(names[source] for source in layer.inputs)
    end = f"([{sources}])" if len(layer.inputs) > 1 else f"({sources})"
    return call(f"{names[layer.name]} = layers.{layer.spec.title}", words, end, indent=4)


def layer_words(layer: Any, *, is_keras2: bool = False) -> list[str]:
    """The arguments that a layer is made with, as source."""
    renamed = layer.spec.keras2_names if is_keras2 else {}
    words = [literal(square(key, value)) for key, value in layer.required.items()]
    return words + [
        f"{renamed.get(key, key)}={literal(square(key, value))}"
        for key, value in layer.arguments.items()
    ]


def without(calls: Sequence[Any], is_left_out: Callable[[Any], bool]) -> list[Any]:
    """A network without some layers of one input: what they are called on takes their place."""
    source: dict[str, str] = {}
    for each in calls:
        if is_left_out(each):
            (before,) = each.inputs
            source[each.name] = source.get(before, before)
    return [
        replace(each, inputs=tuple(source.get(name, name) for name in each.inputs))
        for each in calls
        if each.name not in source
    ]


def tuned_name(recipe: TrainingRecipe, layer: Any) -> list[str]:
    """A name as an argument of layers that learn in the fine-tuning phase alone, to find them by:
    one that Keras makes for no layer.
    """
    is_named = layer.is_tuned and recipe.has_fine_tuning
    return [f"name={literal(f'tuned_{layer.name}')}"] if is_named else []


def output_of(calls: Sequence[Any], names: Mapping[str, str]) -> str:
    """The variable of the network's answer: what no other layer is called on."""
    used = {source for call in calls for source in call.inputs}
    return next(names[call.name] for call in reversed(calls) if call.name not in used)
