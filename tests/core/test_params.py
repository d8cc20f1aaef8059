"""Parameters: which values they take."""

from __future__ import annotations

import math

import pytest

from workbench.core.params import FloatParam, ShapeParam, SizeParam
from workbench.errors import ParamError


@pytest.mark.parametrize("value", [10**400, -(10**400), True, "1", math.nan])
def test_what_is_no_finite_number_is_refused(value):
    with pytest.raises(ParamError):
        FloatParam("rate", 0.5, "a rate").check(value)


@pytest.mark.parametrize("value", [(), (0,), (-1, -1), (1.5,), "8", (1, 2, 3, 4, 5)])
def test_what_is_no_shape_is_refused(value):
    with pytest.raises(ParamError) as caught:
        ShapeParam("shape", (8,), "a shape", can_infer=True).check(value)
    assert caught.value.expected


def test_shapes_and_sizes_have_thousands_separators_everywhere():
    size = SizeParam("size", (1, 1), "Its size.", maximum=65_536)
    shape = ShapeParam("shape", (-1,), "Its shape.", can_infer=True)
    assert size.show((1024, 768)) == "1,024 × 768"
    assert shape.show((3200,)) == "3,200"
    assert shape.show((-1, 10_816)) == "rest × 10,816"


def test_the_ends_of_a_range_of_numbers_have_thousands_separators():
    norm = FloatParam(
        "norm", 1.0, "A norm.", maximum=1e6, is_minimum_excluded=True, is_optional=True
    )
    assert norm.expected() == "a number above 0 to 1,000,000, or empty (automatic)"
    assert FloatParam("rate", 0.5, "A rate.", minimum=0.001, maximum=10).expected() == (
        "a number from 0.001 to 10"
    )
