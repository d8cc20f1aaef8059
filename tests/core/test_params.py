"""Parameters: which values they take."""

from __future__ import annotations

import math

import pytest

from workbench.core.params import FloatParam, ShapeParam
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
