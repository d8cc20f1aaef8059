"""A merge whose inputs do not fit: which changes of its branches are offered."""

from __future__ import annotations

from tests.core.checks.test_shapes import chain
from workbench.core.checks.analysis import analyse
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers

LAYERS = all_layers()
MISMATCH = "Add needs inputs of the same shape"
FLAT = ("flatten", {})


def merged(*branches, shape=(16, 16, 3)):
    """Input a, and branches of it into Add m; the layers of the first are b1, b2, ..."""
    nodes = [Node("a", "input", "a", {"shape": shape}), Node("m", "add", "m")]
    edges = []
    for port, branch in enumerate(branches):
        names = [f"{'bcd'[port]}{row}" for row in range(1, len(branch) + 1)]
        nodes += [Node(n, kind, n, params) for n, (kind, params) in zip(names, branch, strict=True)]
        edges += [Edge(*pair) for pair in zip(["a", *names], names, strict=False)]
        edges.append(Edge(names[-1], "m", port))
    return Graph.of(nodes, edges)


def conv(filters=8, **params):
    return ("conv2d", {"filters": filters, "padding": "same", **params})


def found(graph):
    return analyse(graph, LAYERS, recipe=TrainingRecipe())


def offered(graph):
    """The fixes of the one problem at the merge by their titles."""
    (problem,) = found(graph).problems_by_node["m"]
    assert problem.title == MISMATCH
    return {fix.title: fix for fix in problem.fixes}


def shape_after(graph, fix):
    """The shape of the merge once a fix is applied."""
    after = found(fix.apply(graph))
    assert MISMATCH not in [problem.title for problem in after.problems]
    return after.shapes["m"]


def test_three_inputs_that_all_differ_are_brought_to_one_shape_at_once():
    graph = merged([conv(8)], [conv(16)], [conv(32)])
    ((title, fix),) = offered(graph).items()
    assert title == (
        "Insert Conv2D (32 filters · 1×1 · same) after “b1” and insert Conv2D (32 filters · 1×1 · "
        "same) after “c1”"
    )
    assert shape_after(graph, fix) == (16, 16, 32)


def test_strides_that_leave_the_next_layer_no_room_are_not_offered():
    """With strides 3, “b1” gives 4 × 4, into which the 9 × 9 window of “b2” does not fit: nothing
    is left for “b3”.
    """
    branch = [conv(padding="valid"), conv(padding="valid", kernel_size=(9, 9)), conv()]
    pooled = [("max_pooling2d", {"pool_size": (3, 3)}), conv()]
    graph = merged(branch, pooled)
    fixes = offered(graph)
    assert list(fixes) == ["Set padding of “c1” to same"]
    assert shape_after(graph, fixes["Set padding of “c1” to same"]) == (6, 6, 8)


def test_widths_that_differ_are_set_alike_on_either_side():
    graph = merged([FLAT, ("dense", {"units": 8})], [FLAT, ("dense", {"units": 64})])
    shapes = {title: shape_after(graph, fix) for title, fix in offered(graph).items()}
    assert shapes == {
        "Set units of “b2” to 64": (64,),
        "Set units of “c2” to 8": (8,),
        "Insert Dense (8 units) after “c2”": (8,),
    }


def test_no_strides_and_no_units_make_an_image_of_a_vector():
    graph = merged([conv(8, padding="valid")], [FLAT, ("dense", {"units": 10})])
    assert offered(graph) == {}


def test_a_layer_is_inserted_only_while_there_is_the_merge():
    graph = merged([conv(8)], [conv(16)])
    fix = offered(graph)["Insert Conv2D (8 filters · 1×1 · same) after “c1”"]
    assert shape_after(graph, fix) == (16, 16, 8)
    without = graph.without_nodes(["m"])
    assert fix.apply(without) == without


def test_a_place_between_two_layers_that_is_gone_takes_no_layer():
    graph = chain(
        ("input", {"shape": (16, 16, 3)}), conv(), FLAT, ("dense", {"activation": "softmax"})
    )
    graph = graph.with_node(Node("x", "relu", "loose"))
    (problem,) = found(graph).problems_by_node["x"]
    (fix,) = [fix for fix in problem.fixes if fix.key == "insert_between"]
    assert fix.title == "Insert between “c” and “d”"
    assert fix.apply(graph).targets("x") == ("d",)
    for changed in (graph.without_edge(Edge("c", "d")), graph.without_nodes(["x"])):
        assert fix.apply(changed) == changed


def test_a_branch_without_a_shape_that_takes_nothing_of_the_rest_gets_no_offer():
    """A Reshape without an input, into which the images do not go: the shape that Add has is open."""
    graph = Graph.of(
        [
            Node("a", "input", "a", {"shape": (16, 16, 3)}),
            Node("r", "reshape", "r", {"target_shape": (5, 5)}),
            Node("m", "add", "m"),
        ],
        [Edge("r", "m")],
    )
    titles = [fix.title for problem in found(graph).problems_by_node["m"] for fix in problem.fixes]
    assert not [title for title in titles if "“a”" in title]
