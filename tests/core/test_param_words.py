"""A parameter's value is shown whatever a file has in its place."""

from __future__ import annotations

import math

import pytest

from workbench.core.network.graph import Graph, Node
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.datasets import all_datasets
from workbench.layers import all_layers
from workbench.runs.naming import graph_rows
from workbench.targets import all_targets

ODD = (
    None, True, False, 0, -1, 1, 2**31, 2**53, 2**64, -(2**63), 10**400, 10**5000, 0.5, -0.0, 1e308,
    -1e308, math.inf, -math.inf, math.nan, "", "64", "3x3", "relu", "\0", "\u202e", "\x1b[31m", "a\nb",
    "x" * 5000, "%s {} $x", "<b>", [], [None], [1], [1, 2], [1, 2, 3], [-1], [-1, -1], ["a"], [[]],
    [[1], [2]], [1.5, 2], (3, 3), (True, 1), {}, {"a": 1}, {"": None}, {"a": [1]}, [{}], ["", ""],
    ["\0"],
)  # fmt: skip
SPECS = [*all_layers().values(), *all_datasets().values(), *all_targets().values()]


@pytest.mark.parametrize(
    "param", [*RECIPE_PARAMS, *(p for spec in SPECS for p in spec.params)], ids=str
)
def test_each_odd_value_has_words(param):
    for value in ODD:
        assert isinstance(param.show(value), str)


def test_what_is_not_allowed_is_shown_as_in_the_file():
    param = next(p for p in all_layers()["conv2d"].params if p.key == "filters")
    assert param.show("64") == '"64"'
    assert param.show(64) == "64"
    assert param.show([1]) == "[1]"
    assert len(param.show("x" * 500)) <= 80


@pytest.mark.parametrize("kind", all_layers())
def test_networks_with_odd_values_are_compared(kind):
    params = all_layers()[kind].params
    for value in ODD:
        one = Graph({"a": Node("a", kind, "a", {})}, ())
        other = Graph({"a": Node("a", kind, "a", {param.key: value for param in params})}, ())
        for row in [*graph_rows(one, other), *graph_rows(other, one)]:
            row.title.encode()
