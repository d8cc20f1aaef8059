from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.params import IntParam, check_all
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import automatic_target, parse_target, target_text
from workbench.core.registry import Registry
from workbench.core.specs import TargetLimits, TargetSpec
from workbench.errors import UsageError


def _read(text):
    if not text:
        return {}
    if not text.isdecimal():
        raise UsageError("That is no number.", received=text)
    return {"count": int(text)}


PLAIN = TargetSpec(key="plain", title="Plain", summary="", connect=None, describe=None)
MANY = TargetSpec(
    key="many",
    title="Many",
    summary="",
    params=(IntParam(key="count", title="Count", default=8, minimum=2, maximum=64, help=""),),
    connect=None,
    describe=None,
    limits=lambda params: TargetLimits(replicas=params["count"]),
    read=_read,
    write=lambda params: str(params["count"]),
)
TARGETS = Registry({"plain": PLAIN, "many": MANY})

choices = st.one_of(
    st.just(Choice("plain")),
    st.integers(2, 64).map(lambda count: Choice("many", {"count": count})),
)


@given(choices)
def test_a_text_names_the_same_choice_again(choice):
    assert parse_target(target_text(choice, TARGETS), TARGETS) == choice


@given(st.text(max_size=20).map(lambda text: text.replace("\0", "\n")))
def test_any_text_is_a_target_or_wrong_usage(text):
    for start in ("", "plain:", "many:"):
        try:
            choice = parse_target(start + text, TARGETS)
        except UsageError:
            continue
        assert check_all(TARGETS[choice.key].params, choice.params) == (choice.params, [])
        assert parse_target(target_text(choice, TARGETS), TARGETS) == choice


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing"),
        ("plian", "Did you mean plain"),
        ("cray", "`workbench targets`"),
        ("plain:2", "takes no value"),
        ("plain:", "Nothing follows the colon"),
        ("many:", "many:8"),
        ("many:two", "no number"),
        ("many:1", "from 2 to 64"),
        ("many:2\nplain", "printable"),
        ("many:2\x1b[31m", "printable"),
    ],
)
def test_what_is_wrong_is_said_in_words(text, words):
    with pytest.raises(UsageError) as caught:
        parse_target(text, TARGETS)
    assert words in str(caught.value)


def test_a_bare_key_takes_the_defaults():
    assert parse_target(" many ", TARGETS) == Choice("many", {"count": 8})
    assert target_text(Choice("many"), TARGETS) == "many:8"


def test_an_unknown_target_is_written_by_its_key():
    assert target_text(Choice("gone", {"a": 1}), TARGETS) == "gone"


def test_limits_default_to_one_plain_device():
    assert PLAIN.limits({}) == TargetLimits()
    assert (PLAIN.replicas({}), MANY.replicas({"count": 3})) == (1, 3)


def test_a_text_of_another_program_that_asks_for_too_much_says_what_is_expected():
    others = replace(MANY, other_form=lambda text: text.removeprefix("farm://"))
    targets = Registry({"many": others})
    assert parse_target("farm://8", targets) == Choice("many", {"count": 8})
    with pytest.raises(UsageError, match="64"):
        parse_target("farm://65", targets)


def test_without_any_target_to_take_auto_is_refused():
    with pytest.raises(UsageError, match="No target of this computer can be used"):
        automatic_target(TARGETS)
