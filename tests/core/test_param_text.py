"""Values as they are typed: what a parameter says that it takes, it takes."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from workbench.core.params import FloatParam, IntParam, read_value
from workbench.core.training.recipe import TrainingRecipe, value_from_text
from workbench.errors import ParamError


@pytest.mark.parametrize("text", ["", "  ", "none", "None", "off", "OFF"])
def test_early_stopping_is_switched_off_by_what_the_message_offers(text):
    assert value_from_text("early_stopping_patience", text) is None


def test_every_setting_that_may_be_left_open_is_so_by_no_text():
    keys = [key for key in asdict(TrainingRecipe()) if value_is_optional(key)]
    assert "early_stopping_patience" in keys
    for key in keys:
        assert value_from_text(key, "") is None


def value_is_optional(key: str) -> bool:
    try:
        value_from_text(key, "?")
    except ParamError as error:
        return "or empty" in error.expected
    return False


@pytest.mark.parametrize("kind", [IntParam, FloatParam])
@pytest.mark.parametrize("text", ["", "Full data set", "none"])
def test_a_parameter_that_may_be_left_open_is_so_by_its_own_word(kind, text):
    param = kind("size", None, "", is_optional=True, none_text="full data set")
    assert read_value(param, text) is None
    assert read_value(param, "2") == 2


def test_another_number_is_never_left_open():
    for text in ("", "none", "off"):
        with pytest.raises(ParamError):
            read_value(IntParam("epochs", 3, ""), text)
