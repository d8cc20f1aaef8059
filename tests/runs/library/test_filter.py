from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from workbench.runs.library.index import matches, wrong_comparisons
from workbench.runs.library.summary import RunSummary

RUN = RunSummary(
    path=Path("/runs/2026-01-02_wide"),
    name="2026-01-02_wide",
    title="Wide net: 32 filters",
    outcome="completed",
    words="Training completed.",
    created=0.0,
    epochs_done=12,
    val_accuracy=0.91,
    test_accuracy=0.853,
    best_loss=0.41,
    seconds=130.0,
    images_per_second=3000.0,
    parameters=465_000,
    dataset="CIFAR-10",
    tags=["Paper", "cosine"],
    note="Twice the filters.\nHelps a bit.",
)


@pytest.mark.parametrize(
    "text",
    ["", "   ", "wide", "WIDE helps", "cifar-10", "cifar10", "completed", "2026-01", "paper",
     "tag:paper", "tag:COSINE wide", "-failed", "-tag:other", '"net: 32"', 'title:"wide net"',
     "outcome:comp", "data:cifar", "note:twice", "acc>0.85", "acc>85", "acc>=85.3%", "acc<0.9",
     "val>0.9", "loss<0.5", "epochs=12", "epochs>=12", "seconds<131", "images>2000",
     "parameters<1e6", "-acc>0.9", "32", "net:"],
)  # fmt: skip
def test_found(text):
    assert matches(RUN, text)


@pytest.mark.parametrize(
    "text",
    ["narrow", "wide narrow", "tag:pap", "tag:wide", "-wide", "-tag:paper", '"net 32"',
     "outcome:failed", "data:mnist", "note:wide", "acc>0.9", "acc>90", "test>86%", "loss>0.5",
     "epochs>12", "parameters>1e6", "speed>3", "acc>x", "title:helps"],
)  # fmt: skip
def test_not_found(text):
    assert not matches(RUN, text)


def test_an_unknown_figure_fits_no_comparison():
    bare = RunSummary(path=Path("/r"), name="r", title="", outcome="died", words="", created=0.0)
    assert not any(matches(bare, text) for text in ("acc>0", "acc<1", "loss<9", "parameters>0"))
    assert matches(bare, "epochs=0 died")
    assert matches(bare, "crashed outcome:crashed")


@pytest.mark.parametrize(
    ("text", "is_found"),
    [('"', True), ('""', True), ("-", True), (":", True), ("tag:", False), (">", False),
     ("acc>", False), ('a"b', False), ("acc>1.2.3", False)],
)  # fmt: skip
def test_half_typed_words_are_looked_for_as_words(text, is_found):
    assert matches(RUN, text) is is_found
    assert matches(replace(RUN, note=f"({text.replace(chr(34), '')})"), text)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("acc>x", ["acc>x"]),
        ("flowers -colour>=3 acc>0.8", ["colour>=3"]),
        ("loss<", ["loss<"]),
        ('acc>80% "a > b" -> tag:x=y', []),
    ],
)
def test_a_comparison_that_cannot_be_made_is_found(text, wrong):
    assert wrong_comparisons(text) == wrong
