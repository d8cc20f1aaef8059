"""The targets, one file each: SPEC. Found by walking this folder.

A target is a place to train: it has the `tf.distribute` strategy, which it makes of the tf that it
is handed, its limits, and how it is written on the command line.
"""

from __future__ import annotations

from functools import cache

from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.registry import Registry
from workbench.core.specs import TargetSpec
from workbench.hardware.tpu_chips import GENERATIONS, chip_choice


@cache
def all_targets() -> Registry[TargetSpec]:
    """Every place to train on by key."""
    return Registry.from_package("workbench.targets", TargetSpec)


def target_title(key: str) -> str:
    """A target's name for people; the key of one that is no longer known."""
    spec = all_targets().get(key)
    return spec.title if spec is not None else key


def target_label(choice: Choice) -> str:
    """A chosen target in a few words, for a button or a menu."""
    spec = all_targets().get(choice.key)
    if spec is None:
        return f"{choice.key} (unknown)"
    return spec.label(check_all(spec.params, choice.params)[0]) or spec.title


def tpu_choices() -> dict[str, tuple[tuple[str, str], ...]]:
    """The TPUs that TensorFlow trains on: generation -> (name, name in words) of each size."""
    return {
        generation.name: tuple((size, chip_choice(size).words) for size in generation.sizes)
        for generation in GENERATIONS
        if not generation.needs_jax
    }
