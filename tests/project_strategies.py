"""Hypothesis strategies for whole projects, known layers and unknown ones alike."""

from __future__ import annotations

import unicodedata
from functools import partial

from hypothesis import strategies as st

from workbench.core.network.graph import TRAININGS, Edge, Graph, Node
from workbench.core.projects.data_edits import CONTENT_DIGITS, PART_NAMES, DataEdits
from workbench.core.projects.project import Choice, Project, RobustnessTest, View
from workbench.core.training.recipe import TrainingRecipe

_characters = st.characters(exclude_categories=["Cs"])
texts = st.text(_characters, max_size=30)
words = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple) | st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=4,
)
params = st.dictionaries(words, json_values, max_size=4)
# Names that no version of the format uses, so that they count as unknown.
extras = st.dictionaries(words.map(lambda word: f"x_{word}"), json_values, max_size=2)


@st.composite
def graphs(draw, max_nodes=5):
    """Acyclic graphs: every edge leads from an earlier node to a later one."""
    count = draw(st.integers(0, max_nodes))
    ids = draw(st.lists(words, min_size=count, max_size=count, unique=True))
    names = draw(st.lists(words, min_size=count, max_size=count))
    nodes = [
        Node(
            i,
            draw(words),
            n,
            draw(params),
            draw(extras),
            group=draw(st.sampled_from(["", "block", "backbone 2"])),
            pretrained=draw(st.sampled_from(["", "net/conv1"])),
            training=draw(st.sampled_from(TRAININGS)),
        )
        for i, n in zip(ids, names, strict=True)
    ]
    edges = {}
    for target in range(1, count):
        for port in range(draw(st.integers(0, 2))):
            edges[target, port] = Edge(ids[draw(st.integers(0, target - 1))], ids[target], port)
    return Graph.of(nodes, edges.values())


contents = st.from_regex(rf"[0-9a-f]{{{CONTENT_DIGITS}}}", fullmatch=True)
_names = texts.filter(bool)
_composed = partial(unicodedata.normalize, "NFC")  # as sources give the names of classes
data_edits = st.builds(
    DataEdits,
    left_out=st.frozensets(contents, max_size=3),
    once=st.frozensets(contents, max_size=3),
    labels=st.dictionaries(contents, _names.map(_composed), max_size=3),
    parts=st.dictionaries(contents, st.sampled_from(PART_NAMES), max_size=3),
    kept=st.frozensets(_names, max_size=2),
    classes=st.dictionaries(_names.map(_composed), texts.map(_composed), max_size=3),
)

robustness_tests = st.lists(
    st.builds(
        RobustnessTest,
        name=words,
        strengths=st.dictionaries(words, st.integers(-99, 99).map(float), min_size=1, max_size=3),
    ),
    max_size=3,
    unique_by=lambda test: test.name,
).map(tuple)

_places = st.integers(-10_000, 10_000).map(float)


@st.composite
def projects(draw):
    """Whole projects with unknown fields at the top, in nodes and in sections."""
    graph = draw(graphs())
    positions = {key: (draw(_places), draw(_places)) for key in graph.nodes if draw(st.booleans())}
    extra = dict(draw(extras))
    for section in ("recipe", "dataset", "target", "view", "graph"):
        unknown = draw(extras)
        if unknown:
            extra[section] = unknown
    return Project(
        graph=graph,
        recipe=TrainingRecipe(epochs=draw(st.integers(1, 99)), seed=draw(st.integers(0, 99))),
        dataset=Choice(draw(words), draw(params)),
        target=Choice(draw(words), draw(params)),
        view=View(
            positions,
            draw(st.sampled_from([0.25, 1.0, 1.5])),
            draw(st.none() | st.tuples(_places, _places)),
            frozenset(node.group for node in graph.nodes.values() if draw(st.booleans())) - {""},
        ),
        edits=draw(data_edits),
        robustness=draw(robustness_tests),
        title=draw(texts),
        summary=draw(texts),
        extra=extra,
    )
