"""Every fix that is offered helps: over random networks, and in those that people came upon."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests.core.checks.rest import without_pixels
from tests.core.checks.test_shapes import INPUT, chain
from tests.mistakes import MISTAKES
from tests.strategies import random_valid_graph
from workbench.core.checks.analysis import analyse
from workbench.core.checks.costs import estimate
from workbench.core.checks.images import DatasetFacts
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Edge, Graph, Node, removed
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers

LAYERS = all_layers()
FASHION = DatasetFacts((28, 28, 1), 10, "Fashion-MNIST")
PICTURES = ("input", {"shape": [28, 28, 1]})
SAME = {"padding": "same"}
RELU = {"activation": "relu"}
END = ("dense", {"units": 10, "activation": "softmax"})


def check(graph, dataset=FASHION, recipe=None):
    return without_pixels(
        analyse(graph, LAYERS, recipe=recipe or TrainingRecipe(), dataset=dataset)
    )


def faults(graph):
    """All that is found but hints."""
    return [problem for problem in check(graph).problems if problem.severity != "hint"]


def titles_of(graph, node):
    """The buttons of the one problem at a node, best first."""
    (problem,) = check(graph).problems_by_node[node]
    return [fix.title for fix in problem.fixes]


def fixed_by(graph, node, title):
    (problem,) = check(graph).problems_by_node[node]
    (fix,) = [fix for fix in problem.fixes if fix.title == title]
    return fix.apply(graph)


def skip_network(*, shortcut="b", last="same"):
    """Input a, Conv2D b and c, Add d of c and the shortcut, pooling e, Dense f."""
    graph = chain(
        PICTURES,
        ("conv2d", SAME),
        ("conv2d", {"padding": last}),
        ("add", {}),
        ("global_average_pooling2d", {}),
        END,
    )
    return graph.with_edge(Edge(shortcut, "d", 1))


@st.composite
def broken_graphs(draw):
    """A valid network, or one with a mistake, of which parts were removed and added."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    make = draw(st.sampled_from([random_valid_graph, *MISTAKES]))
    graph = make(rng, LAYERS)
    for _ in range(draw(st.integers(0, 3))):
        graph = _break(graph, rng)
    return graph


def _break(graph, rng):
    kind = rng.choice(("node", "node", "edge", "loose", "removed"))
    if kind == "edge" and graph.edges:
        return graph.without_edge(rng.choice(graph.edges))
    if kind == "loose":
        loose = rng.choice(list(LAYERS))
        return graph.with_node(Node(graph.new_id(), loose, graph.new_name(loose)))
    if not graph.nodes:
        return graph
    gone = [rng.choice(list(graph.nodes))]
    return removed(graph, gone) if kind == "removed" else graph.without_nodes(gone)


@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(graph=broken_graphs(), has_data=st.booleans())
def test_every_offered_fix_helps(graph, has_data):
    """Applied, it leaves fewer problems, or others in the place of the one it stands at and not
    more; it never fails and never changes nothing. Hints count against hints alone.
    """
    dataset = FASHION if has_data else None
    before = check(graph, dataset)
    for problem in before.problems:
        for fix in problem.fixes:
            event(f"tried {fix.key.partition('_')[0]}")
            recipe = TrainingRecipe().with_values(**fix.recipe)
            after_graph = fix.apply(graph)
            assert (after_graph, recipe) != (graph, TrainingRecipe()), fix.title
            assert not after_graph.has_cycle()
            left, had = (
                [p for p in found.problems if problem.severity == "hint" or p.severity != "hint"]
                for found in (check(after_graph, dataset, recipe), before)
            )
            assert len(left) <= len(had), fix.title
            is_gone = (problem.node, problem.title) not in [(p.node, p.title) for p in left]
            assert is_gone or len(left) < len(had), fix.title


def test_what_is_taken_over_from_a_known_network_is_what_is_worked_out_anew():
    taken = 0
    for seed in range(80):
        rng = random.Random(seed)
        graph = random_valid_graph(rng, LAYERS)
        broken = _break(_break(graph, rng), rng)
        known, anew = Propagation(graph, LAYERS), Propagation(broken, LAYERS)
        found = Propagation(broken, LAYERS, known)
        taken += len(found.kept)
        assert (found.shapes, found.inputs, found.params) == (anew.shapes, anew.inputs, anew.params)
        assert [p.message for p in found.problems] == [p.message for p in anew.problems]
        costs = estimate(graph, LAYERS, known, batch_size=8, optimizer="adam")
        args = {"batch_size": 8, "optimizer": "adam"}
        assert estimate(broken, LAYERS, found, known=costs, **args) == estimate(
            broken, LAYERS, anew, **args
        )
    assert taken > 200


def test_a_merge_that_lost_an_input_is_never_offered_its_descendants_or_the_output():
    graph = removed(skip_network(), ["c"])
    assert [edge.source for edge in graph.edges_into("d")] == ["b"]
    assert titles_of(graph, "d") == ["Connect to “a”", "Remove “d”"]
    assert check(fixed_by(graph, "d", "Connect to “a”")).problems == []


def test_a_second_input_comes_from_the_nearest_layer_of_the_same_shape():
    graph = chain(
        PICTURES,
        ("conv2d", SAME),
        ("conv2d", {**SAME, "filters": 64}),
        ("batch_normalization", {}),
        ("relu", {}),
        ("add", {}),
        ("flatten", {}),
        END,
    )
    assert titles_of(graph, "f") == ["Connect to “d”", "Connect to “c”", "Remove “f”"]


def test_an_open_end_of_the_same_shape_is_the_second_input():
    graph = chain(PICTURES, ("conv2d", SAME), ("relu", {}), ("add", {}), ("flatten", {}), END)
    graph = graph.with_node(Node("x", "conv2d", "side", SAME)).with_edge(Edge("a", "x"))
    problem = check(graph).problems_by_node["d"][0]
    assert problem.fixes[0].title == "Connect to “side”"
    assert check(problem.fixes[0].apply(graph)).problems == []


def test_removing_is_what_the_delete_key_does():
    graph = removed(skip_network(), ["c"])
    assert fixed_by(graph, "d", "Remove “d”") == removed(graph, ["d"])
    assert faults(removed(graph, ["d"])) == []


def test_a_loose_layer_is_inserted_before_the_output_and_never_connected_to_it():
    graph = chain(PICTURES, ("conv2d", RELU), ("flatten", {}), END)
    graph = graph.with_node(Node("x", "batch_normalization", "loose"))
    titles = titles_of(graph, "x")
    assert titles[0] == "Insert between “c” and “d”"
    assert titles[-1] == "Remove “loose”"
    assert not [title for title in titles if title == "Connect to “d”"]
    fixed = fixed_by(graph, "x", titles[0])
    assert (fixed.sources("x"), fixed.targets("x")) == (("c",), ("d",))
    assert faults(fixed) == []


def test_a_loose_convolution_is_inserted_where_a_picture_is():
    graph = chain(PICTURES, ("conv2d", RELU), ("flatten", {}), END)
    graph = graph.with_node(Node("x", "conv2d", "loose"))
    fixed = fixed_by(graph, "x", "Insert between “b” and “c”")
    assert faults(fixed) == []


@pytest.mark.parametrize("kind", ["add", "subtract", "multiply", "maximum", "concatenate"])
def test_the_classic_slip_at_a_merge_is_fixed_by_padding(kind):
    """Conv2D valid 26 × 26, then valid 24 × 24, and both into Add."""
    nodes = [
        Node("a", "input", "input", PICTURES[1]),
        Node("b", "conv2d", "conv2d"),
        Node("c", "conv2d", "conv2d_2"),
        Node("d", kind, "merge"),
        Node("e", "flatten", "flatten"),
        Node("f", "dense", "dense", END[1]),
    ]
    edges = [Edge(*pair) for pair in ("ab", "bc", "cd", "de", "ef")]
    graph = Graph.of(nodes, [*edges, Edge("b", "d", 1)])
    assert titles_of(graph, "d")[0] == "Set padding of “conv2d_2” to same"
    assert check(fixed_by(graph, "d", "Set padding of “conv2d_2” to same")).problems == []


def test_several_layers_of_a_branch_are_padded_together():
    graph = chain(
        PICTURES,
        ("conv2d", SAME),
        ("conv2d", RELU),
        ("relu", {}),
        ("conv2d", RELU),
        ("add", {}),
        ("flatten", {}),
        END,
    ).with_edge(Edge("b", "f", 1))
    assert titles_of(graph, "f") == ["Set padding of “c” and “e” to same"]
    assert check(fixed_by(graph, "f", "Set padding of “c” and “e” to same")).problems == []


def test_channels_that_differ_get_a_1x1_convolution_on_the_shortcut():
    graph = chain(
        ("input", {"shape": [28, 28, 3]}),
        ("conv2d", SAME),
        ("conv2d", {"filters": 64, **SAME}),
        ("add", {}),
        ("flatten", {}),
        END,
    ).with_edge(Edge("b", "d", 1))
    titles = [
        fix.title
        for fix in analyse(graph, LAYERS, recipe=TrainingRecipe()).problems_by_node["d"][0].fixes
    ]
    assert titles == [
        "Set filters of “c” to 32",
        "Insert Conv2D (64 filters · 1×1 · same) after “b”",
    ]


def test_valid_padding_and_other_channels_are_fixed_at_once():
    graph = chain(
        PICTURES,
        ("conv2d", SAME),
        ("conv2d", {"filters": 64}),
        ("conv2d", {"filters": 64}),
        ("add", {}),
        ("flatten", {}),
        END,
    ).with_edge(Edge("b", "e", 1))
    (title,) = titles_of(graph, "e")
    assert title == (
        "Set padding of “c” and “d” to same and insert Conv2D (64 filters · 1×1 · same) after “b”"
    )
    assert faults(fixed_by(graph, "e", title)) == []


def test_a_network_that_is_not_finished_has_no_error():
    going_on = [
        Graph(),
        chain(PICTURES),
        chain(PICTURES, ("conv2d", RELU)),
        chain(PICTURES, ("conv2d", RELU), ("flatten", {})),
        chain(PICTURES, ("conv2d", RELU), ("flatten", {}), ("dense", {"units": 64})),
        chain(("conv2d", RELU), ("flatten", {})),
        skip_network().without_edge(Edge("b", "d", 1)),
        chain(PICTURES, ("flatten", {}), END).with_node(Node("x", "relu", "x")),
    ]
    for graph in going_on:
        found = check(graph)
        assert found.is_unfinished, found.problems
        assert not found.is_trainable
        assert found.blocking_words.startswith("Not finished: ")
    wrong = check(
        chain(PICTURES, ("flatten", {}), ("dense", {"units": 7, "activation": "softmax"}))
    )
    assert not wrong.is_unfinished
    assert wrong.blocking_words == "Output size does not match the number of classes"


def test_what_is_missing_is_said_in_words_and_by_a_button():
    graph = chain(PICTURES, ("conv2d", RELU), ("flatten", {}))
    found = check(graph)
    assert found.blocking_words == "Not finished: add a Dense layer with 10 units"
    (fix,) = found.errors[0].fixes
    assert fix.title == "Add a Dense layer with 10 units"
    assert check(fix.apply(graph)).problems == []
    with_input = check(chain(INPUT), DatasetFacts((32, 32, 3), 2, "two"))
    assert with_input.blocking_words == ("Not finished: add Flatten and a Dense layer with 2 units")


def test_a_head_without_units_of_its_own_gets_its_class_count_from_the_layer_before_it():
    graph = chain(
        PICTURES, ("conv2d", {"filters": 7}), ("global_average_pooling2d", {}), ("softmax", {})
    )
    titles = titles_of(graph, "c")
    assert titles == ["Add a Dense layer with 10 units", "Set filters of “b” to 10"]
    for title in titles:
        assert faults(fixed_by(graph, "c", title)) == []


def test_too_many_inputs_are_disconnected_at_once():
    graph = chain(PICTURES, ("conv2d", RELU), ("relu", {}), ("flatten", {}), END)
    for port, source in enumerate(("a", "b"), start=1):
        graph = graph.with_edge(Edge(source, "d", port))
    assert titles_of(graph, "d") == ["Disconnect “a” and “b”"]


def test_a_branch_that_leads_nowhere_is_removed_whole():
    graph = chain(PICTURES, ("conv2d", RELU), ("flatten", {}), END)
    graph = graph.with_node(Node("x", "relu", "x")).with_node(Node("y", "relu", "y"))
    graph = graph.with_edge(Edge("b", "x")).with_edge(Edge("x", "y"))
    assert titles_of(graph, "y") == ["Remove “x” to “y” (2 layers)", "Remove “y”"]
    assert check(fixed_by(graph, "y", "Remove “x” to “y” (2 layers)")).problems == []


def cut_network():
    """Input a, Conv2D b, MaxPooling2D c, Flatten d, Dense e and f; b and c are cut apart."""
    kinds = [PICTURES, ("conv2d", RELU), ("max_pooling2d", {}), ("flatten", {})]
    graph = chain(*kinds, ("dense", {"units": 64, **RELU}), END)
    return graph, graph.without_edge(Edge("b", "c"))


def test_what_was_cut_apart_is_joined_before_new_layers_are_added():
    whole, graph = cut_network()
    assert titles_of(graph, "c")[0] == "Connect to “b”"
    titles = titles_of(graph, "b")
    assert titles[0] == "Connect to “c”"
    assert titles[1] == "Add Flatten and a Dense layer with 10 units"
    for node, title in (("b", "Connect to “c”"), ("c", "Connect to “b”")):
        assert fixed_by(graph, node, title) == whole
    flat = whole.without_edge(Edge("d", "e"))
    assert titles_of(flat, "d") == ["Connect to “e”", "Add a Dense layer with 10 units"]
    assert fixed_by(flat, "d", "Connect to “e”") == whole


def test_a_dead_end_is_connected_to_a_merge_that_lacks_an_input():
    graph = chain(PICTURES, ("conv2d", SAME), ("add", {}), ("flatten", {}), END)
    graph = graph.with_node(Node("x", "conv2d", "side", SAME)).with_edge(Edge("a", "x"))
    assert "Connect to “c”" in titles_of(graph, "x")
    assert check(fixed_by(graph, "x", "Connect to “c”")).problems == []


def test_a_network_without_input_gets_one_at_every_layer_that_lacks_its_input():
    whole, _ = cut_network()
    graph = whole.without_nodes(["a"]).with_node(Node("x", "add", "loose"))
    (problem,) = check(graph).problems_by_node[None]
    assert [fix.title for fix in problem.fixes] == ["Add Input"]
    for node in ("b", "x"):
        assert titles_of(graph, node)[0] == "Add Input"
        fixed = fixed_by(graph, node, "Add Input")
        (start,) = [key for key in fixed.nodes if fixed.nodes[key].kind == "input"]
        assert fixed.targets(start) == ("b",)
        assert fixed.nodes[start].params["shape"] == (28, 28, 1)


def test_a_merge_behind_a_loose_layer_is_connected_to_what_that_layer_could_follow():
    whole, _ = cut_network()
    graph = whole.with_node(Node("x", "conv2d", "loose", RELU)).with_node(Node("y", "add", "add"))
    graph = graph.with_edge(Edge("x", "y"))
    assert titles_of(graph, "x")[0] == "Connect to “c”"
    assert titles_of(graph, "y")[0] == "Connect to “c”"
    assert titles_of(graph, "y")[-1] == "Remove “add”"


@pytest.mark.parametrize(
    ("kind", "params", "title"),
    [
        ("conv2d", {"kernel_size": [99, 99]}, "Set kernel size to 3 × 3"),
        ("conv2d", {"kernel_size": [99, 5]}, "Set kernel size to 3 × 5"),
        ("conv2d", {"kernel_size": [5, 5], "dilation_rate": [20, 1]}, "Set kernel size to 2 × 5"),
        ("max_pooling2d", {"pool_size": [40, 40]}, "Set pool size to 3 × 3"),
    ],
)
def test_a_window_that_is_larger_than_the_image_gets_a_size_that_fits(kind, params, title):
    graph = chain(PICTURES, (kind, params), ("flatten", {}), END)
    assert titles_of(graph, "b") == ["Set padding to same", title]
    assert faults(fixed_by(graph, "b", title)) == []


MERGES = [key for key, spec in LAYERS.items() if spec.category == "merge"]


def branched(kind, *, side, main=("max_pooling2d", {})):
    """Input a, Conv2D b, a layer c, Flatten d and Dense e; a branch x from c, with a merge m
    behind it that lacks its second input.
    """
    graph = chain(PICTURES, ("conv2d", RELU), main, ("flatten", {}), END)
    graph = graph.with_node(Node("x", side[0], "x", side[1])).with_node(Node("m", kind, kind))
    return graph.with_edge(Edge("c", "x")).with_edge(Edge("x", "m"))


def lacking(graph):
    """The problem of the merge m that it lacks an input: the end of a branch has others, too."""
    (problem,) = [p for p in check(graph).problems_by_node["m"] if p.title == "Needs another input"]
    return problem


@pytest.mark.parametrize("kind", MERGES)
@pytest.mark.parametrize(
    "side",
    [
        ("conv2d", {"filters": 32, "padding": "same"}),
        ("conv2d", {"filters": 16}),
        ("conv2d", {"filters": 8, "padding": "same", "strides": (2, 2)}),
        ("max_pooling2d", {}),
        ("flatten", {}),
    ],
)
def test_a_merge_that_lacks_an_input_is_offered_sources_before_its_removal(kind, side):
    """What was just added is not only offered to be deleted; each offer is right."""
    graph = branched(kind, side=side)
    problem = lacking(graph)
    assert "or drag from the dot below a layer" in problem.message
    titles = [fix.title for fix in problem.fixes]
    assert titles[0].startswith("Connect to ")
    assert titles[-1] == f"Remove “{kind}”"
    for fix in problem.fixes[:-1]:
        after = check(fix.apply(graph))
        assert [p for p in after.problems_by_node.get("m", ()) if p.severity == "error"] == []
        assert after.shapes["m"]
        assert not any(p.severity == "error" for p in after.problems)


def test_a_source_of_the_same_shape_comes_before_the_input():
    graph = branched("concatenate", side=("conv2d", {"padding": "same"}))
    first = lacking(graph).fixes[0]
    assert first.title == "Connect to “c”"
    assert "m" in first.apply(graph).targets("c")


@pytest.mark.parametrize("activation", ["linear", "relu", "softmax"])
def test_a_last_dense_with_too_few_units_gets_more_before_another_one_is_added(activation):
    few = ("dense", {"units": 7, "activation": activation})
    graph = chain(PICTURES, ("flatten", {}), few)
    problems = [p for p in check(graph).problems if "number of classes" in p.title]
    assert problems[0].fixes[0].title == "Set units to 10"
    wide = graph.with_params("c", units=128)
    problems = [p for p in check(wide).problems if "number of classes" in p.title]
    added = "Set units to 10" if activation == "softmax" else "Add a Dense layer with 10 units"
    assert problems[0].fixes[0].title == added


def test_hints_of_one_kind_are_fixed_together():
    plain = ("conv2d", {"padding": "same"})
    graph = chain(PICTURES, *[plain] * 5, ("flatten", {}), END)
    hints = [p for p in check(graph).problems if p.title == "Two linear layers in a row"]
    assert len(hints) == 5
    for hint in hints:
        titles = [fix.title for fix in hint.fixes]
        assert titles[0] == "Set activation to relu"
        assert titles[-1] == "Set activation to relu in all 5 of them"
    after = check(hints[2].fixes[-1].apply(graph))
    assert [p for p in after.problems if p.title == "Two linear layers in a row"] == []
    one = check(hints[2].fixes[0].apply(graph))
    assert len([p for p in one.problems if p.title == "Two linear layers in a row"]) == 4


def test_a_single_hint_is_not_fixed_in_all_of_them():
    graph = chain(PICTURES, ("conv2d", {}), ("flatten", {}), END)
    titles = [fix.title for p in check(graph).problems for fix in p.fixes]
    assert not [title for title in titles if "in all" in title]


@pytest.mark.parametrize("activation", ["linear", "relu"])
@pytest.mark.parametrize(("units", "is_output"), [(12, True), (19, True), (20, False), (64, False)])
def test_a_last_dense_with_hardly_more_units_than_classes_is_the_output(
    activation, units, is_output
):
    """A newcomer enters a wrong number; both remedies are there, the likelier one first."""
    last = ("dense", {"units": units, "activation": activation})
    graph = chain(PICTURES, ("flatten", {}), last)
    (problem,) = [p for p in check(graph).problems if "number of classes" in p.title]
    both = ["Set units to 10", "Add a Dense layer with 10 units"]
    assert [fix.title for fix in problem.fixes] == (both if is_output else both[::-1])
