"""TPUs by their names: sizes, cores, topologies, and what is refused."""

from __future__ import annotations

import pytest

from workbench.errors import UsageError
from workbench.hardware.tpu_chips import GENERATIONS, chip_choice


@pytest.mark.parametrize(
    ("text", "chips", "cores", "topology"),
    [
        ("v5e", 1, 1, "v5e:1x1"),
        ("v5e-8", 8, 8, "v5e:2x4"),
        ("V5LitePod-4", 4, 4, "v5e:2x2"),
        ("v2", 1, 2, "v2:1x1"),
        ("v3-8", 4, 8, "v3:2x2"),
        ("v4-8", 4, 4, "v4:2x2x1"),
        ("v5p-8", 4, 4, "v5p:2x2x1"),
        (" v6e-1 ", 1, 1, "v6e:1x1"),
        ("v5e-256", 256, 256, "v5e:16x16"),
    ],
)
def test_names_mean_what_they_mean_when_a_tpu_is_rented(text, chips, cores, topology):
    choice = chip_choice(text)
    assert (choice.chips, choice.cores, choice.topology) == (chips, cores, topology)
    assert chip_choice(choice.name) == choice


@pytest.mark.parametrize("generation", GENERATIONS, ids=lambda g: g.name)
def test_every_size_is_read_back(generation):
    choices = [chip_choice(size) for size in generation.sizes]
    assert [choice.name for choice in choices] == list(generation.sizes)
    assert all(choice.topology.startswith(f"{generation.name}:") for choice in choices)


@pytest.mark.parametrize(
    "text",
    ["", "v9", "v5e-3", "v3-1", "v5e-", "v5e-99999", "v5e-8\n--x", "v5e;rm", "-v5e", "x" * 99],
)
def test_other_names_are_refused_with_those_that_there_are(text):
    with pytest.raises(UsageError) as error:
        chip_choice(text)
    assert "v5e" in error.value.expected or "v3-8" in error.value.expected


def test_only_the_newest_needs_jax():
    assert [g.name for g in GENERATIONS if g.needs_jax] == ["tpu7x"]
    assert chip_choice("v7x-8").generation.needs_jax
