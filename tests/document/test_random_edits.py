"""A stateful machine edits at random: undo-all gives the start, redo-all the end."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import parse_project, project_text
from workbench.document.placement import folded_as
from workbench.document.project_document import ProjectDocument
from workbench.errors import WorkbenchError
from workbench.layers import all_layers
from workbench.templates import find_template

KINDS = ("input", "conv2d", "flatten", "dense", "add", "dropout", "concatenate")
picks = st.integers(0, 1000)


class Edits(RuleBasedStateMachine):
    """One document, and a mirror that receives only its signals, as the canvas does."""

    def __init__(self):
        super().__init__()
        self.document = ProjectDocument(all_layers())
        self.document.graph_changed.connect(self.on_graph_changed)
        self.document.positions_changed.connect(self.on_moved)
        self.document.shown_changed.connect(self.on_shown_changed)
        self.document.project_replaced.connect(self.on_replaced)

    def on_replaced(self):
        graph = self.document.graph
        self.nodes, self.edges = dict(graph.nodes), set(graph.edges)
        self.places = dict(self.document.positions)
        self.cards = set(self.document.shown.graph.nodes)
        self.lines = set(self.document.shown.graph.edges)

    def on_shown_changed(self, change):
        assert self.cards.issuperset(change.removed_nodes)
        assert self.lines.issuperset(change.removed_edges)
        self.cards = self.cards.difference(change.removed_nodes) | set(change.added_nodes)
        self.lines = self.lines.difference(change.removed_edges) | set(change.added_edges)

    def on_moved(self, moved):
        self.places.update(moved)

    def on_graph_changed(self, change):
        graph = self.document.graph
        for key in change.removed_nodes:
            del self.nodes[key]
            del self.places[key]
        for key in (*change.added_nodes, *change.changed_nodes):
            self.nodes[key] = graph.nodes[key]
        assert self.edges.issuperset(change.removed_edges)
        self.edges = self.edges.difference(change.removed_edges) | set(change.added_edges)

    def pick(self, number):
        ids = list(self.document.shown.graph.nodes)
        return ids[number % len(ids)] if ids else "none"

    def edge(self, number):
        edges = self.document.shown.graph.edges
        return edges[number % len(edges)] if edges else None

    @initialize(template=st.sampled_from(["", "lenet5", "small_resnet"]))
    def start(self, template):
        self.document.new(find_template(template).project if template else None)
        self.begin = self.document.project

    @rule(kind=st.sampled_from(KINDS), after=st.none() | picks, edge=st.none() | picks)
    def add(self, kind, after, edge):
        where = self.edge(edge) if edge is not None else None
        previous = self.pick(after) if after is not None else None
        with contextlib.suppress(WorkbenchError):
            self.document.add_node(kind, after=previous, edge=where)

    @rule(numbers=st.lists(picks, max_size=4), edge=st.none() | picks)
    def remove(self, numbers, edge):
        where = self.edge(edge) if edge is not None else None
        self.document.remove([self.pick(n) for n in numbers], [where] if where else [])

    @rule(first=picks, second=picks)
    def connect(self, first, second):
        source, target = self.pick(first), self.pick(second)
        problem = self.document.connection_problem(source, target)
        try:
            self.document.connect(source, target)
        except WorkbenchError:
            assert problem
        else:
            assert not problem

    @rule(number=picks)
    def disconnect(self, number):
        edge = self.edge(number)
        if edge is not None:
            self.document.disconnect(edge)

    @rule(number=picks, value=st.integers(1, 99))
    def set_params(self, number, value):
        for key in ("filters", "units"):
            with contextlib.suppress(WorkbenchError):
                self.document.set_params(self.pick(number), **{key: value})

    @rule(number=picks, name=st.from_regex(r"[a-z]{1,3}", fullmatch=True))
    def rename(self, number, name):
        with contextlib.suppress(WorkbenchError):
            self.document.rename(self.pick(number), name)

    @rule(numbers=st.lists(picks, max_size=3), x=st.integers(-500, 500))
    def move(self, numbers, x):
        self.document.move({self.pick(n): (float(x), float(n)) for n in numbers})

    @rule(numbers=st.lists(picks, max_size=3))
    def duplicate(self, numbers):
        if len(self.document.graph.nodes) < 60:
            self.document.duplicate([self.pick(n) for n in numbers])

    @rule(numbers=st.lists(picks, min_size=1, max_size=4))
    def group(self, numbers):
        chosen = {self.pick(n) for n in numbers} & self.document.shown.graph.nodes.keys()
        if chosen:
            self.document.group(chosen)

    @rule(number=picks, what=st.sampled_from(["fold", "open", "ungroup", "rename"]))
    def change_group(self, number, what):
        names = sorted(self.document.graph.groups)
        if not names:
            return
        name = names[number % len(names)]
        with contextlib.suppress(WorkbenchError):
            if what == "fold":
                self.document.fold(name)
            elif what == "open":
                self.document.open_group(name)
            elif what == "ungroup":
                self.document.ungroup(name)
            else:
                self.document.rename_group(name, f"g{number % 7}")

    @rule(number=picks, edge=picks)
    def move_onto(self, number, edge):
        where, key = self.edge(edge), self.pick(number)
        if where is not None and self.document.can_move_onto(key, where):
            with contextlib.suppress(WorkbenchError):
                self.document.move_onto(key, where, (0.0, 10.0 * number))

    @rule(number=picks, what=st.sampled_from(["detach", "bypass", "before", "after"]))
    def rewire(self, number, what):
        key = self.pick(number)
        if key == "none":
            return
        with contextlib.suppress(WorkbenchError):
            if what == "detach":
                self.document.detach(key)
            elif what == "bypass":
                self.document.bypass(key)
            elif what == "before":
                self.document.insert_before("relu", key)
            else:
                self.document.insert_after("relu", key)

    @rule(epochs=st.integers(1, 50))
    def set_recipe(self, epochs):
        self.document.set_recipe(epochs=epochs)

    @rule(path=st.sampled_from(["/a", "/b"]))
    def set_dataset(self, path):
        self.document.set_dataset(Choice("folder", {"path": path}))

    @rule()
    def apply_a_fix(self):
        fixes = [fix for problem in self.document.analysis.problems for fix in problem.fixes]
        if fixes:
            with contextlib.suppress(WorkbenchError):
                self.document.apply_fix(fixes[0])

    @rule(steps=st.integers(1, 5))
    def undo(self, steps):
        for _ in range(steps):
            self.document.undo_stack.undo()

    @rule(steps=st.integers(1, 5))
    def redo(self, steps):
        for _ in range(steps):
            self.document.undo_stack.redo()

    @invariant()
    def mirror_and_document_agree(self):
        graph = self.document.graph
        assert self.nodes == dict(graph.nodes)
        assert self.edges == set(graph.edges)
        assert self.places == dict(self.document.positions)
        assert set(self.places) == set(graph.nodes)
        assert not graph.has_cycle()
        shown = self.document.shown
        assert self.cards == set(shown.graph.nodes) == set(self.document.shown_positions)
        assert self.lines == set(shown.graph.edges)
        assert self.document.folded <= graph.groups.keys()

    def teardown(self):
        if not hasattr(self, "begin"):
            return
        stack = self.document.undo_stack
        index, end = stack.index(), self.document.project
        stack.setIndex(0)
        state = folded_as(self.document.project, self.begin.view.folded, self.document.layers)
        assert state == self.begin
        assert not self.document.is_dirty
        stack.setIndex(index)
        assert self.document.project == end
        stack.setIndex(stack.count())
        self.mirror_and_document_agree()
        text = project_text(end)
        assert project_text(parse_project(text, "end")) == text


@pytest.mark.usefixtures("qapp")
def test_random_edits():
    run_state_machine_as_test(
        Edits,
        settings=settings(
            max_examples=25,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
