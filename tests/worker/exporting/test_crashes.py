"""A converter or a runtime that crashes: its layer is found by exports of parts of the network."""

from __future__ import annotations

import math

import pytest

from tests.built_networks import graph_of
from tests.worker.conftest import chain
from tests.worker.exporting.conftest import GRAPH, SHAPE, make_run, request
from workbench.errors import ChildDiedError, SaveError
from workbench.worker.requests.exporting import converter, export, handler
from workbench.worker.requests.exporting.handler import crashing_node

pytestmark = pytest.mark.worker

BRANCHES = graph_of(
    [
        ("a", "b"),
        ("b", "c"),
        ("c", "d"),
        ("a", "e"),
        ("e", "f"),
        ("d", "g"),
        ("f", "g"),
        ("g", "h"),
    ],
    **{key: ("relu", {}) for key in "abcdefgh"},
)


@pytest.mark.parametrize("fault", list("bcdefgh"))
def test_the_fault_is_found_in_any_branch(fault):
    tried = []

    def crashes(node):
        tried.append(node)
        return fault == node or fault in BRANCHES.ancestors(node)

    assert crashing_node(BRANCHES, set("abcdefgh"), crashes) == fault
    assert len(tried) <= math.ceil(math.log2(len("abcdefgh"))) + 1


def test_what_crashes_without_any_layer_has_none_at_fault():
    assert crashing_node(BRANCHES, set("abcdefgh"), lambda _node: True) == ""
    assert crashing_node(BRANCHES, set(), lambda _node: True) == ""


@pytest.fixture
def crashing(monkeypatch):
    """Makes the converter end without an answer where the network has this layer; another is
    written. Returns the layers at which networks that were converted end.
    """

    def crash(layer, *, is_killed=False):
        ends = []

        def convert(order, check):
            ends.append(order.until)
            if order.until and layer not in GRAPH.ancestors(order.until) | {order.until}:
                return converter.convert(order, check)
            died = ChildDiedError("The converter is gone.", is_killed=is_killed)
            raise SaveError("The export was not written: it crashed.", received="x") from died

        monkeypatch.setattr(handler, "convert", convert)
        return ends

    return crash


def test_the_layer_is_named(job, colors, crashing, tmp_path):
    ends = crashing("n6")
    with pytest.raises(SaveError) as caught:
        export(job, request(colors, "savedmodel", tmp_path / "model"))
    assert caught.value.what == "The export was not written: it crashed, at the layer “conv2d_6”."
    assert caught.value.where == "conv2d_6"
    assert caught.value.received == "x"
    assert ends[0] == ""
    assert {"n5", "n6"} <= set(ends)
    assert [path.name for path in tmp_path.iterdir()] == ["session"]
    assert list(job.folder.iterdir()) == []


def test_where_it_was_killed_no_layer_is_looked_for(job, colors, crashing, tmp_path):
    ends = crashing("n6", is_killed=True)
    with pytest.raises(SaveError) as caught:
        export(job, request(colors, "savedmodel", tmp_path / "model"))
    assert caught.value.what == "The export was not written: it crashed."
    assert ends == [""]


def test_the_layer_at_which_litert_itself_crashes_is_named(job, tmp_path):
    one_channel = {"filters": 1, "kernel_size": (3, 3)}  # which is normalized to nothing but zeros
    graph = chain(
        ("input", {"shape": SHAPE}),
        ("conv2d", one_channel),
        ("layer_normalization", {}),
        ("flatten", {}),
        ("dense", {"units": 3}),
    )
    run = make_run(tmp_path, graph)
    with pytest.raises(SaveError, match=r"cannot read it, at the layer “layer_normalization_2”"):
        export(job, request(run, "litert_int8", tmp_path / "model"))
    assert not (tmp_path / "model").exists()
    assert list(job.folder.iterdir()) == []
