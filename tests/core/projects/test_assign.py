"""KEY=VALUE texts: which values they give, and what is said of wrong ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.texts import PlugIns, with_assignments
from workbench.datasets import all_datasets
from workbench.errors import UsageError
from workbench.layers import all_layers
from workbench.targets import all_targets

PLUG_INS = PlugIns(layers=all_layers(), datasets=all_datasets(), targets=all_targets())
PROJECT = Project(
    title="old",
    graph=Graph.of([Node("a", "conv2d", "conv2d"), Node("b", "reshape", "reshape")]),
    dataset=Choice("folder", {"path": "/data/birds"}),
    target=Choice("virtual", {"like_tpu": True}),
)


def changed(*texts):
    return with_assignments(PROJECT, texts, PLUG_INS)


@pytest.mark.parametrize(
    ("text", "node", "values"),
    [
        ("conv2d.kernel_size=5x3", "a", {"kernel_size": (5, 3)}),
        ("conv2d.kernel_size=5", "a", {"kernel_size": (5, 5)}),
        ("conv2d.kernel_size=(5, 3)", "a", {"kernel_size": (5, 3)}),
        ("conv2d.use_bias=no", "a", {"use_bias": False}),
        ("reshape.target_shape=8 × 8 × 2", "b", {"target_shape": (8, 8, 2)}),
        ("reshape.target_shape=-1", "b", {"target_shape": (-1,)}),
    ],
)
def test_a_value_of_a_layer(text, node, values):
    assert dict(changed(text).graph.nodes[node].params) == values


@pytest.mark.parametrize(
    ("text", "received"), [("wide", '"wide"'), ("8x8.5", '"8x8.5"'), ("5x3x1", "(5, 3, 1)")]
)
def test_what_is_no_size_is_refused_with_what_was_typed(text, received):
    with pytest.raises(UsageError, match="Kernel size") as caught:
        changed(f"conv2d.kernel_size={text}")
    assert caught.value.received == received
    assert caught.value.expected


def test_when_layers_learn():
    nodes = [Node(key, "conv2d", name, group="net") for key, name in (("a", "one"), ("b", "two"))]
    project = replace(PROJECT, graph=Graph.of(nodes, [Edge("a", "b")]))

    def trainings(text):
        graph = with_assignments(project, [text], PLUG_INS).graph
        return [node.training for node in graph.nodes.values()]

    assert trainings("one.training=never") == ["never", "always"]
    assert trainings("fine_tune_from=two") == ["never", "fine_tuning"]
    assert trainings("train_from=one") == ["always", "always"]
    for wrong in ("one.training=sometimes", "fine_tune_from=three"):
        with pytest.raises(UsageError):
            trainings(wrong)


def test_a_value_of_the_target_or_the_data_keeps_the_others():
    project = changed("target.replicas=4", "data.fit=stretch")
    assert project.target == Choice("virtual", {"replicas": 4, "like_tpu": True})
    assert project.dataset.params["fit"] == "stretch"
    assert project.dataset.params["path"] == "/data/birds"


def test_a_path_is_absolute_for_programs_that_run_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ada")
    paths = {"own": str(Path.cwd() / "own"), "~/own": "/home/ada/own", "": ""}
    for text, path in paths.items():
        assert changed(f"data.path={text}").dataset.params["path"] == path


def test_all_wrong_texts_are_named_at_once():
    with pytest.raises(UsageError) as caught:
        changed("epochs", "target.size=4", "dense.units=3")
    for words in ("KEY=VALUE", 'has no setting "size"', 'no layer "dense"'):
        assert words in str(caught.value)
