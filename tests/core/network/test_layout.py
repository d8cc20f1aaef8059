"""Layout: nothing overlaps, chains are straight, usual networks have no crossings."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.layout import (
    COLUMN_GAP,
    GAP,
    NODE_HEIGHT,
    NODE_WIDTH,
    SHORT_NODE_HEIGHT,
    Layering,
    arrange,
    count_crossings,
    node_sizes,
    order_layers,
)
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec


def build(num_nodes: int, pairs: list[tuple[int, int]]) -> Graph:
    graph = Graph({f"n{i}": Node(f"n{i}", "add", f"add_{i}") for i in range(num_nodes)})
    ports: dict[int, int] = {}
    edges = []
    for source, target in pairs:
        port = ports.get(target, 0)
        ports[target] = port + 1
        edges.append(Edge(f"n{source}", f"n{target}", port))
    return Graph(graph.nodes, tuple(sorted(edges)))


def chain(num_nodes: int) -> Graph:
    return build(num_nodes, [(i, i + 1) for i in range(num_nodes - 1)])


def resnet(num_blocks: int) -> Graph:
    """Blocks of two layers and an Add with a skip; every third skip has a layer of its own."""
    pairs = []
    last, count = 0, 1
    for block in range(num_blocks):
        first, second = count, count + 1
        count += 2
        skip = last
        if block % 3 == 2:
            pairs.append((last, count))
            skip = count
            count += 1
        pairs += [(last, first), (first, second), (second, count), (skip, count)]
        last = count
        count += 1
    return build(count, pairs)


def inception(num_blocks: int) -> Graph:
    """Blocks of four branches of one to three layers that meet again."""
    pairs = []
    last, count = 0, 1
    for _ in range(num_blocks):
        ends = []
        for length in (1, 2, 3, 2):
            before = last
            for _ in range(length):
                pairs.append((before, count))
                before = count
                count += 1
            ends.append(before)
        pairs += [(end, count) for end in ends]
        last = count
        count += 1
    return build(count, pairs)


def unet(depth: int) -> Graph:
    pairs = [(i, i + 1) for i in range(4 * depth)]
    pairs += [(2 * i, 4 * depth - 2 * i) for i in range(depth)]
    return build(4 * depth + 1, pairs)


def crossings(graph: Graph) -> int:
    layering = Layering.of(graph, list(graph.nodes))
    order_layers(layering)
    return count_crossings(layering)


def overlapping(positions, sizes) -> list[tuple[str, str]]:
    keys = sorted(positions)
    return [
        (a, b)
        for i, a in enumerate(keys)
        for b in keys[i + 1 :]
        if abs(positions[a][0] + sizes[a][0] / 2 - positions[b][0] - sizes[b][0] / 2)
        < (sizes[a][0] + sizes[b][0]) / 2
        and abs(positions[a][1] + sizes[a][1] / 2 - positions[b][1] - sizes[b][1] / 2)
        < (sizes[a][1] + sizes[b][1]) / 2
    ]


@st.composite
def layouts(draw) -> tuple[Graph, dict[str, tuple[float, float]]]:
    num_nodes = draw(st.integers(1, 24))
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, num_nodes - 1), st.integers(0, num_nodes - 1)),
            max_size=40,
            unique=True,
        )
    )
    graph = build(num_nodes, sorted((a, b) for a, b in pairs if a < b))
    heights = draw(st.lists(st.sampled_from((36.0, 52.0)), min_size=num_nodes, max_size=num_nodes))
    return graph, {f"n{i}": (NODE_WIDTH, height) for i, height in enumerate(heights)}


@given(layouts())
@settings(max_examples=150, deadline=None)
def test_nothing_overlaps_and_data_flows_down(case) -> None:
    graph, sizes = case
    positions = arrange(graph, sizes)
    assert set(positions) == set(graph.nodes)
    assert not overlapping(positions, sizes)
    for edge in graph.edges:
        below = positions[edge.target][1] - positions[edge.source][1] - sizes[edge.source][1]
        assert below >= GAP - 16  # a short card is centered in a layer with a tall one


def test_a_chain_is_one_straight_column() -> None:
    positions = arrange(chain(20))  # a longer one becomes several columns: test_columns.py
    assert {x for x, _ in positions.values()} == {0}
    assert [positions[f"n{i}"][1] for i in range(20)] == [
        i * (NODE_HEIGHT + GAP) for i in range(20)
    ]


def test_the_longest_path_stays_straight_beside_skips() -> None:
    graph = resnet(6)
    positions = arrange(graph)
    trunk = {x for x, _ in positions.values() if x == 0}
    assert trunk == {0}
    assert sum(x == 0 for x, _ in positions.values()) == 1 + 3 * 6


def test_usual_networks_have_no_crossings() -> None:
    assert crossings(resnet(12)) == 0
    assert crossings(inception(6)) == 0
    assert crossings(unet(6)) == 0


def test_crossings_are_counted() -> None:
    graph = build(6, [(0, 1), (0, 2), (1, 4), (2, 3), (3, 5), (4, 5)])
    layering = Layering.of(graph, list(graph.nodes))
    number = {key: i for i, key in enumerate(layering.keys)}
    layering.layers[1] = [number["n1"], number["n2"]]
    layering.layers[2] = [number["n3"], number["n4"]]
    assert count_crossings(layering) == 1
    order_layers(layering)
    assert count_crossings(layering) == 0


def test_a_swap_of_two_neighbors_removes_a_crossing() -> None:
    """One is left without it: sorting by means alone does not remove the last one here."""
    assert crossings(build(6, [(0, 4), (0, 5), (1, 2), (1, 5), (2, 4), (3, 5)])) == 0


def test_a_node_and_a_skip_that_want_the_same_place_are_moved_apart() -> None:
    positions = arrange(build(4, [(0, 3), (1, 2), (1, 3), (2, 3)]))
    assert {positions[key][0] for key in ("n1", "n2", "n3")} == {0}
    assert positions["n0"][1] == positions["n2"][1]
    assert positions["n0"][0] > NODE_WIDTH + COLUMN_GAP, "the skip runs between them"


def test_parts_are_side_by_side() -> None:
    graph = build(5, [(0, 1), (1, 2)])
    positions = arrange(graph)
    right = max(positions[key][0] for key in ("n0", "n1", "n2")) + NODE_WIDTH
    assert positions["n3"][0] >= right + COLUMN_GAP
    assert positions["n3"][0] == positions["n4"][0]
    assert positions["n3"][1] < positions["n4"][1]


def test_three_hundred_nodes_and_dense_graphs_are_laid_out() -> None:
    big = resnet(85)
    assert len(arrange(big)) == len(big.nodes) > 280
    dense = build(60, [(a, b) for a in range(60) for b in range(a + 1, 60)])
    positions = arrange(dense)
    assert len({y for _, y in positions.values()}) == 60


def test_an_empty_graph_has_no_places() -> None:
    assert arrange(Graph()) == {}


def test_cards_without_words_are_short_and_wrong_values_do_no_harm() -> None:
    layers = Registry.from_package("workbench.layers", LayerSpec)
    wrong = {param.key: None for param in layers["conv2d"].params}
    nodes = [
        Node("a", "flatten", "flatten"),
        Node("b", "conv2d", "conv2d"),
        Node("c", "conv2d", "conv2d_2", wrong),
        Node("d", "no_such_layer", "mystery", {"x": object}),
    ]
    heights = {key: size[1] for key, size in node_sizes(Graph.of(nodes), layers).items()}
    tall = NODE_HEIGHT
    assert heights == {"a": SHORT_NODE_HEIGHT, "b": tall, "c": tall, "d": tall}
