"""Class names: one normal form, distinct names stay distinct, and nothing ambiguous is matched."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core import outside_text
from workbench.core.format import MAX_NAME, plain_name
from workbench.core.outside_text import KnownNames, folded, look_alikes, matched, normal, unique

WORDS = st.text(st.sampled_from("aAéß e\u0301\u00a0\u200d\ufe0f\n(2)ｃ"), max_size=6)
ENGLAND, WALES = (
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in land) + "\U000e007f"
    for land in ("gbeng", "gbwls")
)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("Lo\u0308wenzahn", "Löwenzahn"),
        ("\ud55c\uad6d", unicodedata.normalize("NFC", "\u1112\u1161\u11ab\u1100\u116e\u11a8")),
        ("  red\u00a0\u3000rose\t\n", "red rose"),
        ("\ufeffro\u200bse\u00ad\u202e", "rose"),
        ("\u2764\ufe0f", "\u2764"),
        ("\u3164x\u2800", "x"),
        ("e\u034f\u0301", "é"),
        ("\u200b", ""),
        ("caf\udce9", "caf\udce9"),
        (ENGLAND, ENGLAND),
    ],
)
def test_the_normal_form(name, form):
    assert normal(name) == form


@given(WORDS | st.text(max_size=8))
def test_forms_are_stable_and_those_of_decomposed_letters(name):
    assert normal(normal(name)) == normal(name)
    assert folded(folded(name)) == folded(name)
    assert normal(unicodedata.normalize("NFD", name)) == normal(name)


@given(st.lists(WORDS, unique=True, max_size=12))
def test_different_names_stay_different_and_can_be_shown(names):
    shown = unique(names)
    assert len(set(shown)) == len(names) == len(shown)
    assert all(len(name) <= MAX_NAME and "\n" not in name for name in shown)
    assert all(unique([name]) == (plain_name(name),) for name in names)


def test_names_that_are_shown_alike_get_numbers():
    assert unique(["rose", "rose ", "Rose", " rose"]) == ("rose", "rose (2)", "Rose", "rose (3)")
    assert unique(["a", "a (2)", "a\u200a"]) == ("a", "a (2)", "a (3)")
    long = "n" * 150
    assert unique([long + "1", long + "2"]) == ("n" * 100, "n" * 96 + " (2)")


def test_paths_are_named_by_their_last_folders():
    keys = [("north", "old"), ("south", "Old"), ("far", "young")]
    assert list(outside_text.unique_paths(keys).values()) == ["north/old", "south/Old", "young"]
    keys = [("a", "x"), ("a", "x ")]
    assert list(outside_text.unique_paths(keys).values()) == ["a/x", "a/x (2)"]
    assert outside_text.unique_paths([]) == {}


def test_names_that_differ_in_case_or_spaces_look_alike():
    names = ["rose", "tulip", "Rose", "red rose", "red  rose", "cafe\u0301", "café"]
    assert look_alikes(names) == (
        ("rose", "Rose"),
        ("red rose", "red  rose"),
        ("cafe\u0301", "café"),
    )


def test_copies_look_like_what_they_are_copies_of():
    names = ["cats", "cats - Copy", "cats - Copy (2)", "Class (1)", "Class (2)", "cats (1)", "copy"]
    assert look_alikes(names) == (("cats", "cats - Copy", "cats - Copy (2)", "cats (1)"),)


def test_names_match_exactly_then_in_normal_form_then_without_case():
    found = matched(
        ["rose", "ROSE", "Tulip ", "lo\u0308we", "oak"], ["rose", "Rose", "tulip", "löwe"]
    )
    assert found.names == {"rose": "rose", "Tulip ": "tulip", "lo\u0308we": "löwe"}
    assert found.unknown == ("ROSE", "oak")
    assert found.notes == ("“Tulip” is taken as “tulip” (other case).",)


def test_many_of_another_case_are_counted():
    names = [f"Class{letter}" for letter in "abcdefg"]
    (note,) = matched([name.upper() for name in names], names).notes
    assert note.endswith("“CLASSE” is taken as “Classe” and 2 more (other case).")


def test_what_may_be_several_is_none():
    known = KnownNames(["cafe\u0301", "cafe \u0301", "a\u200b", "a\u200c", "\u200b", "\u200d"])
    assert known.find("a") == ""
    assert known.find("A") == ""
    assert known.find("a\u200b") == "a\u200b"
    assert known.find("\u00ad") == ""
    assert known.find("CAFÉ") == "cafe\u0301"
    assert KnownNames(["m²", "m2"]).find("M2") == ""
    assert KnownNames([ENGLAND]).find(WALES) == ""
