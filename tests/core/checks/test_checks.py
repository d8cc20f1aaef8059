"""The whole check: structure, classes, pictures, costs."""

from __future__ import annotations

import pytest

from tests.core.checks.rest import without_pixels
from tests.core.checks.test_shapes import INPUT, chain
from workbench.core.checks.analysis import analyse
from workbench.core.checks.images import DatasetFacts
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import GraphError
from workbench.layers import all_layers

LAYERS = all_layers()
CIFAR = DatasetFacts((32, 32, 3), 10, "CIFAR-10")
RELU = {"activation": "relu"}
END = ("dense", {"units": 10, "activation": "softmax"})


def check(graph, dataset=CIFAR, **recipe):
    return without_pixels(analyse(graph, LAYERS, recipe=TrainingRecipe(**recipe), dataset=dataset))


def titles(graph, dataset=CIFAR):
    return [(p.severity, p.title, p.node) for p in check(graph, dataset).problems]


def mend(graph, key, dataset=CIFAR):
    """The graph after the fix of that key, whichever problem offers it."""
    offered = {fix.key: fix for p in check(graph, dataset).problems for fix in p.fixes}
    return offered[key].apply(graph)


def test_cifar10_convnet_costs_what_the_tutorial_says():
    same = {"padding": "same", "activation": "relu"}
    graph = chain(
        INPUT,
        ("batch_normalization", {}),
        ("conv2d", {"filters": 32, **same}),
        ("conv2d", {"filters": 32, **same}),
        ("max_pooling2d", {}),
        ("dropout", {}),
        ("batch_normalization", {}),
        ("conv2d", {"filters": 64, **same}),
        ("conv2d", {"filters": 64, "activation": "relu"}),
        ("max_pooling2d", {}),
        ("dropout", {}),
        ("flatten", {}),
        ("dense", {"units": 512, "activation": "relu"}),
        ("dropout", {"rate": 0.5}),
        END,
    )
    found = check(graph, batch_size=1024)
    assert found.problems == []
    assert found.is_trainable
    assert found.costs.parameters.total == 1_676_982
    assert found.costs.parameters.non_trainable == 70
    assert found.costs.nodes["c"].parameters.total == 896
    # 32·32·27·32 of the first convolution, as one adds it up by hand
    assert found.costs.nodes["c"].multiply_adds == 884_736
    assert 1.0e9 < found.costs.memory_bytes < 1.3e9


def test_memory_grows_with_the_batch_and_the_optimizer():
    graph = chain(INPUT, ("flatten", {}), END)
    small, large = check(graph, batch_size=1).costs, check(graph, batch_size=101).costs
    activations = (3072 + 3072 + 10) * 4
    assert large.memory_bytes - small.memory_bytes == 2 * 100 * activations
    assert small.weight_bytes - check(graph, optimizer="sgd").costs.weight_bytes == 30_730 * 4


def test_nothing_yet():
    ((severity, title, node),) = titles(Graph())
    assert (severity, title, node) == ("unfinished", "No Input", None)
    mended = mend(Graph(), "add_input", DatasetFacts((28, 28, 1), 10, ""))
    assert [dict(n.params) for n in mended.nodes.values()] == [{"shape": (28, 28, 1)}]


def test_missing_input_is_added_and_connected():
    graph = Graph.of(
        [Node("f", "flatten", "f"), Node("d", *END[:1], "d", END[1])], [Edge("f", "d")]
    )
    mended = mend(graph, "add_input")
    assert check(mended).problems == []


def test_second_input_is_merged_into_the_first():
    nodes = [
        Node("a", "input", "one"),
        Node("b", "input", "two"),
        Node("m", "add", "m"),
        Node("f", "flatten", "f"),
        Node("d", "dense", "d", END[1]),
    ]
    edges = [Edge("a", "m"), Edge("b", "m", 1), Edge("m", "f"), Edge("f", "d")]
    graph = Graph.of(nodes, edges)
    assert ("error", "Only one Input is allowed", "b") in titles(graph)
    assert check(mend(graph, "merge_input")).problems == []


def test_unconnected_node_is_connected_to_the_end_or_removed():
    graph = chain(INPUT, ("flatten", {})).with_node(Node("x", "dense", "x", END[1]))
    assert ("unfinished", "Not connected", "x") in titles(graph)
    assert check(mend(graph, "connect_b")).problems == []
    assert "x" not in mend(graph, "remove").nodes


def test_several_outputs():
    graph = chain(INPUT, ("flatten", {}), END)
    graph = graph.with_node(Node("x", "relu", "x")).with_edge(Edge("b", "x"))
    assert ("unfinished", "Several outputs", "x") in titles(graph)  # "c" makes the probabilities
    (problem,) = [p for p in check(graph).errors if p.title == "Several outputs"]
    assert "ReLU “x”" in problem.message
    assert "Dense “c”" in problem.message


def test_units_are_set_to_the_classes():
    graph = chain(INPUT, ("flatten", {}), ("dense", {"units": 7}), ("softmax", {}))
    assert ("error", "Output size does not match the number of classes", "c") in titles(graph)
    mended = mend(graph, "set_units")
    assert mended.nodes["c"].params["units"] == 10
    assert check(mended).problems == []


def test_without_dataset_classes_are_not_checked():
    graph = chain(INPUT, ("flatten", {}), ("dense", {"units": 7, "activation": "softmax"}))
    assert check(graph, None).problems == []


@pytest.mark.parametrize(
    "last", [("dense", {"units": 10}), ("dense", {"units": 10, "activation": "relu"})]
)
def test_softmax_is_added(last):
    graph = chain(INPUT, ("flatten", {}), last)
    found = check(graph)
    assert found.is_trainable
    assert [(p.severity, p.title) for p in found.problems] == [("warning", "No softmax at the end")]
    assert check(mend(graph, "add_softmax")).problems == []


def test_softmax_layer_is_appended_where_the_last_layer_has_no_activation():
    graph = chain(INPUT, ("conv2d", {"filters": 10}), ("global_average_pooling2d", {}))
    mended = mend(graph, "add_softmax")
    assert check(mended).problems == []
    assert [n.kind for n in mended.nodes.values()][-1] == "softmax"


def test_last_dense_on_a_picture_is_an_error_with_both_fixes():
    graph = chain(INPUT, ("conv2d", {"filters": 64, "padding": "same", **RELU}), END)
    (problem,) = check(graph).errors
    assert problem.title == "Dense needs a flat input"
    assert problem.message.startswith("Dense “c” receives 32 × 32 × 64 from Conv2D “b”.")
    assert [fix.title for fix in problem.fixes] == [
        "Insert Flatten",
        "Insert GlobalAveragePooling2D",
    ]
    for fix in problem.fixes:
        assert check(fix.apply(graph)).problems == []


def test_dense_on_a_picture_in_the_middle_is_a_warning():
    graph = chain(INPUT, ("dense", {"units": 8, **RELU}), ("flatten", {}), END)
    found = check(graph)
    assert found.is_trainable
    assert [(p.severity, p.node) for p in found.problems] == [("warning", "b")]


def test_network_that_ends_in_a_picture_gets_a_classifier():
    graph = chain(INPUT, ("conv2d", RELU))
    assert ("unfinished", "The output must be flat", "b") in titles(graph)
    assert check(mend(graph, "append_flatten")).problems == []
    assert check(mend(graph, "append_global_average_pooling2d")).problems == []


def test_random_layer_behind_a_convolution_is_moved():
    graph = chain(INPUT, ("conv2d", RELU), ("random_flip", {}), ("flatten", {}), END)
    assert ("error", "Too far from Input", "c") in titles(graph)
    mended = mend(graph, "move_behind_input")
    assert check(mended).problems == []
    assert mended.targets("a") == ("c",)
    assert mended.targets("b") == ("d",)


def test_random_layer_on_one_branch_of_two():
    nodes = [
        Node("a", "input", "a"),
        Node("r", "random_flip", "r"),
        Node("m", "add", "m"),
        Node("f", "flatten", "f"),
        Node("d", "dense", "d", END[1]),
    ]
    edges = [Edge("a", "r"), Edge("a", "m"), Edge("r", "m", 1), Edge("m", "f"), Edge("f", "d")]
    graph = Graph.of(nodes, edges)
    assert ("error", "Is on a branch", "r") in titles(graph)


def test_pictures_are_fitted_and_input_can_follow_them():
    graph = chain(("input", {"shape": [28, 28, 1]}), ("flatten", {}), END)
    found = check(graph)
    assert [(p.severity, p.title) for p in found.problems] == [
        ("warning", "Images will be resized")
    ]
    mended = mend(graph, "set_shape")
    assert mended.nodes["a"].params["shape"] == (32, 32, 3)
    assert check(mended).problems == []


def test_pictures_have_one_or_three_channels():
    graph = chain(("input", {"shape": [32, 32, 4]}), ("flatten", {}), END)
    assert ("error", "Images need 1 or 3 channels", "a") in titles(graph)
    assert check(mend(graph, "set_shape")).problems == []
    assert check(graph, None).problems == []


def test_very_many_parameters_are_reported_with_their_memory():
    graph = chain(
        ("input", {"shape": [224, 224, 3]}),
        ("flatten", {}),
        ("dense", {"units": 4096, **RELU}),
        END,
    )
    (problem,) = check(graph, None).problems
    assert (problem.severity, problem.node) == ("warning", "c")
    assert "GB" in problem.message


def test_names():
    graph = Graph.of(
        [
            Node("a", "input", "in put"),
            Node("b", "flatten", "x"),
            Node("c", "dense", "x", END[1]),
        ],
        [Edge("a", "b"), Edge("b", "c")],
    )
    assert titles(graph) == [
        ("error", "Duplicate name", "c"),
        ("warning", "Name is not valid in Keras", "a"),
    ]
    mended = mend(mend(graph, "rename"), "rename")
    assert check(mended).problems == []
    assert [n.name for n in mended.nodes.values()] == ["in_put", "x", "x_2"]


def test_problems_come_by_severity_and_by_node():
    graph = chain(
        ("input", {"shape": [28, 28, 1]}), ("dense", RELU), ("flatten", {}), ("dense", {})
    )
    graph = graph.with_params("a", shape=(32, 32, 3))
    found = check(graph, DatasetFacts((28, 28, 3), 10, "small"))
    assert [p.severity for p in found.problems] == ["unfinished", "warning", "hint"]
    assert [p.node for p in found.problems_by_node["d"]] == ["d"]
    assert not found.is_trainable


def test_unknown_kinds_never_stop_the_check():
    graph = chain(INPUT, ("quantum_layer", {"x": 1}), ("flatten", {}), END)
    found = check(graph)
    assert [p.title for p in found.problems] == ["Unknown layer type"]


@pytest.mark.parametrize("end", [("softmax", {}), ("activation", {"activation": "softmax"})])
def test_softmax_twice_is_warned_of_and_mended(end):
    graph = chain(INPUT, ("flatten", {}), END, end)
    found = check(graph)
    assert found.is_trainable
    assert [(p.severity, p.title) for p in found.problems] == [("warning", "Softmax applied twice")]
    (fix,) = found.problems[0].fixes
    assert check(fix.apply(graph)).problems == []


def test_shapes_in_messages_are_written_alike():
    graph = chain(INPUT, ("flatten", {}), ("dense", {"units": 28_800}))
    (problem,) = [
        p
        for p in check(graph).errors
        if p.title == "Output size does not match the number of classes"
    ]
    assert "28,800 outputs" in problem.message
    wide = Graph.of(
        [
            Node("a", "input", "a", {"shape": (32, 32, 3)}),
            Node("b", "conv2d", "b", {}),
            Node("c", "conv2d", "c", {"filters": 16, "padding": "same"}),
            Node("d", "add", "d", {}),
        ],
        [Edge("a", "b"), Edge("a", "c"), Edge("b", "d"), Edge("c", "d", 1)],
    )
    (problem,) = [p for p in check(wide).errors if p.node == "d"]
    assert "30 × 30 × 32 from Conv2D “b” and 32 × 32 × 16 from Conv2D “c”" in problem.message


def test_what_cannot_learn_through_a_layer_is_reported_before_it_is_trained():
    """TensorFlow has no gradient of an area interpolation."""
    area = ("resizing", {"height": 4, "width": 4, "interpolation": "area"})
    ends = (("flatten", {}), END)
    graph = chain(INPUT, ("conv2d", RELU), ("max_pooling2d", {}), area, *ends)
    found = check(graph)
    (problem,) = found.errors
    assert (problem.node, problem.title) == ("d", "No gradient passes through it")
    assert "“b”" in problem.message
    assert not found.is_trainable
    assert titles(mend(graph, "set_interpolation")) == []
    # nothing to learn before it, in the input pipeline or in the model
    assert not check(chain(INPUT, area, ("conv2d", RELU), *ends)).errors
    assert not check(chain(INPUT, ("max_pooling2d", {}), area, ("conv2d", RELU), *ends)).errors
    assert not check(chain(INPUT, ("normalization", {}), area, ("conv2d", RELU), *ends)).errors


def test_pictures_are_not_compared_with_an_input_that_has_no_shape():
    graph = chain(("input", {"shape": [0, 8, 1]}), ("flatten", {}), END)
    found = [title for _, title, _ in titles(graph)]
    assert found
    assert not [title for title in found if title.startswith("Images")]


def test_a_network_with_errors_is_refused_with_all_of_them():
    check(chain(INPUT, ("flatten", {}), END)).refuse_errors()
    found = check(chain(INPUT, ("conv2d", {"kernel_size": (99, 99), "padding": "valid"}), END))
    with pytest.raises(GraphError) as caught:
        found.refuse_errors()
    assert found.errors
    assert all(problem.message in caught.value.what for problem in found.errors)
