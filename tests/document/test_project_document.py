"""Edits as people make them: texts, steps, places, signals."""

from __future__ import annotations

import pytest

from workbench.core.checks.images import DatasetFacts
from workbench.core.coach import Change
from workbench.core.network.graph import Edge, GraphDiff
from workbench.core.projects.project import Choice, Project, RobustnessTest
from workbench.core.projects.project_file import project_text, read_project
from workbench.document.project_document import ProjectDocument
from workbench.errors import (
    GraphError,
    InputError,
    ParamError,
    ProjectFileError,
    SaveError,
    UnconfirmedSaveError,
    UsageError,
)
from workbench.layers import all_layers
from workbench.templates import find_template


def chain(document, *kinds):
    ids = []
    for kind in kinds:
        ids.append(document.add_node(kind, after=ids[-1] if ids else None))
    return ids


def texts(document):
    stack = document.undo_stack
    return [stack.text(index) for index in range(stack.count())]


def test_adding_after_a_node_connects_and_places_below(document):
    first, second = chain(document, "input", "conv2d")
    assert document.graph.edges == (Edge(first, second),)
    assert document.positions[second][1] > document.positions[first][1]
    assert document.analysis.shapes[second] == (26, 26, 32)
    assert texts(document) == ["Add Input", "Add Conv2D"]


def test_names_are_numbered_and_unknown_kinds_refused(document):
    ids = chain(document, "input", "conv2d", "conv2d")
    assert [document.graph.nodes[i].name for i in ids] == ["input", "conv2d", "conv2d_2"]
    with pytest.raises(GraphError, match="no layer type"):
        document.add_node("conv3d")
    assert len(document.graph.nodes) == 3


def test_an_input_is_added_loose_where_it_cannot_be_fed(document):
    first, second = chain(document, "input", "input")
    assert document.graph.edges == ()
    assert document.positions[first] != document.positions[second]


def test_dropping_on_an_edge_splits_it_and_makes_room(document):
    a, b, c = chain(document, "input", "conv2d", "flatten")
    y = document.positions[b][1]
    new = document.add_node("dropout", document.positions[b], edge=Edge(a, b))
    assert document.graph.edges == tuple(sorted([Edge(a, new), Edge(new, b), Edge(b, c)]))
    assert document.positions[b][1] > y
    assert document.positions[c][1] > document.positions[b][1]
    assert document.undo_stack.undoText() == "Insert Dropout"
    with pytest.raises(GraphError, match="is the first layer"):
        document.add_node("input", edge=Edge(a, new))
    with pytest.raises(GraphError, match="no longer exists"):
        document.add_node("dropout", edge=Edge(a, b))


def test_removing_links_of_a_chain_closes_it(document):
    a, b, c, d = chain(document, "input", "conv2d", "relu", "flatten")
    document.remove([b, c])
    assert document.graph.edges == (Edge(a, d),)
    assert document.undo_stack.undoText() == "Remove 2 layers"
    document.undo_stack.undo()
    document.remove([c])
    assert Edge(b, d) in document.graph.edges
    assert document.undo_stack.undoText() == "Remove ReLU"


def test_removing_a_fork_closes_nothing(document):
    a, b, c = chain(document, "input", "conv2d", "relu")
    d = document.add_node("elu", after=b)
    document.remove([b])
    assert document.graph.edges == ()
    assert set(document.graph.nodes) == {a, c, d}


def test_removing_a_branch_does_not_double_the_shortcut(document):
    a, b = chain(document, "input", "conv2d")
    add = document.add_node("add", after=b)
    document.connect(a, add)
    document.remove([b])
    assert document.graph.edges == (Edge(a, add, 1),)


def test_removing_a_node_with_its_edge_leaves_the_gap(document):
    a, b, c = chain(document, "input", "conv2d", "relu")
    document.remove([b], [Edge(a, b)])
    assert document.graph.edges == ()
    document.undo_stack.undo()
    document.remove([], [Edge(a, b)])
    assert document.graph.edges == (Edge(b, c),)
    assert document.undo_stack.undoText() == "Remove connection"


def test_connecting_is_refused_with_the_reason(document):
    a, b, c = chain(document, "input", "conv2d", "relu")
    other = document.add_node("conv2d")
    assert "already connected" in document.connection_problem(other, c)
    assert "circle" in document.connection_problem(c, b, 1) or document.connection_problem(c, b)
    assert "is the first layer" in document.connection_problem(b, a)
    assert document.connection_problem(a, other) == ""
    with pytest.raises(GraphError, match="already connected"):
        document.connect(other, c)
    document.connect(a, other)
    assert document.undo_stack.undoText() == "Connect input to conv2d_2"
    document.disconnect(Edge(a, other))
    assert document.undo_stack.undoText() == "Disconnect input from conv2d_2"


def test_a_connection_that_would_not_fit_is_warned_of(document):
    a, b = chain(document, "input", "flatten")
    conv = document.add_node("conv2d")
    assert document.connection_problem(b, conv) == ""
    assert document.connection_warning(b, conv)
    assert document.connection_warning(a, conv) == ""


def test_edits_of_one_setting_are_one_step(document):
    (_, conv) = chain(document, "input", "conv2d")
    before = document.graph
    for filters in (1, 12, 128):
        document.set_params(conv, filters=filters)
    document.set_params(conv, kernel_size=5)
    assert texts(document)[2:] == ["Change filters of conv2d", "Change kernel size of conv2d"]
    assert document.graph.nodes[conv].params["kernel_size"] == (5, 5)
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.graph == before


def test_a_setting_changed_back_leaves_no_step(document):
    (_, conv) = chain(document, "input", "conv2d")
    document.set_params(conv, filters=7)
    document.set_params(conv, filters=32)
    assert len(texts(document)) == 2
    document.set_params(conv, filters=32)
    assert len(texts(document)) == 2


def test_wrong_settings_are_refused_and_nothing_changes(document):
    (_, conv) = chain(document, "input", "conv2d")
    before = document.graph
    for values in ({"filters": "many"}, {"filters": 5, "no_such": 1}, {"filters": 0}):
        with pytest.raises(ParamError) as caught:
            document.set_params(conv, **values)
        assert "conv2d" in caught.value.where
    with pytest.raises(GraphError):
        document.set_params("n99", filters=1)
    assert document.graph is before


def test_renaming(document):
    _, b = chain(document, "input", "conv2d")
    document.rename(b, " stem ")
    assert document.graph.nodes[b].name == "stem"
    with pytest.raises(GraphError, match="Another layer"):
        document.rename(b, "input")
    for name in ("", "a/b", "ä", "x" * 200):
        with pytest.raises(ParamError):
            document.rename(b, name)
    assert document.undo_stack.undoText() == "Rename conv2d to stem"


def test_a_move_is_one_step_and_signals_what_moved(document, qtbot):
    a, b = chain(document, "input", "conv2d")
    with qtbot.waitSignal(document.positions_changed) as moved:
        document.move({b: (500.0, 20.0), "gone": (0.0, 0.0)})
    assert moved.args == [{b: (500.0, 20.0)}]
    assert document.undo_stack.undoText() == "Move conv2d"
    document.move({a: (1.0, 1.0), b: (2.0, 2.0)})
    assert document.undo_stack.undoText() == "Move 2 layers"
    document.undo_stack.undo()
    assert document.positions[b] == (500.0, 20.0)


def test_a_move_keeps_the_analysis(document):
    chain(document, "input", "conv2d")
    before = document.analysis
    document.arrange()
    document.move(dict.fromkeys(document.positions, (9.0, 9.0)))
    assert document.analysis is before


def test_signals_find_everything_in_step(document):
    seen = []

    def look(change):
        seen.append((change, set(document.positions) == set(document.graph.nodes)))

    document.graph_changed.connect(look)
    a = document.add_node("input", (3.0, 4.0))
    assert seen == [(GraphDiff(added_nodes=(a,)), True)]
    document.undo_stack.undo()
    assert seen[1] == (GraphDiff(removed_nodes=(a,)), True)


def test_copies_get_new_ids_and_names_and_keep_their_edges(document):
    a, b = chain(document, "input", "conv2d")
    document.set_params(b, filters=9)
    ids = document.paste(document.copy_text([a, b]), (1000.0, 100.0))
    assert document.positions[ids[0]] == (1000.0, 100.0)
    nodes = [document.graph.nodes[key] for key in ids]
    assert [node.name for node in nodes] == ["input_2", "conv2d_2"]
    assert nodes[1].params["filters"] == 9
    assert Edge(*ids) in document.graph.edges
    assert document.undo_stack.undoText() == "Paste 2 layers"
    (again,) = document.duplicate([b])
    assert document.graph.nodes[again].name == "conv2d_3"
    assert document.undo_stack.undoText() == "Duplicate Conv2D"
    assert document.positions[again] not in {
        document.positions[b],
        *[document.positions[i] for i in ids],
    }


def test_copies_of_nothing_change_nothing_and_cannot_be_undone(document):
    chain(document, "input", "conv2d")
    before, count = document.graph, document.undo_stack.count()
    assert document.duplicate([]) == []
    assert document.paste(document.copy_text(["gone"])) == []
    assert document.graph == before
    assert document.undo_stack.count() == count


@pytest.mark.parametrize("text", ["", "hello", "[]", "{}", '{"format": "workbench-graph"}',
    '{"format": "workbench-graph", "version": 9}',
    '{"format": "workbench-graph", "version": 1, "graph": 5}',
    '{"format": "workbench-graph", "version": 1, "graph": {"nodes": [{}]}}'])  # fmt: skip
def test_foreign_clipboards_are_refused_in_words(document, text):
    with pytest.raises(InputError) as caught:
        document.paste(text)
    assert caught.value.fix
    assert document.undo_stack.count() == 0


def test_fixes_are_applied_as_one_step(document):
    document.add_node("input")
    document.add_node("dense", after="n1")
    problem = next(p for p in document.analysis.problems if p.fixes)
    fix = problem.fixes[0]
    document.apply_fix(fix)
    assert document.undo_stack.undoText() == fix.title
    assert problem not in document.analysis.problems
    assert set(document.positions) == set(document.graph.nodes)


def test_what_a_run_of_a_sweep_had_is_taken_in_one_step(document):
    _, conv = chain(document, "input", "conv2d")
    graph = document.graph.with_params(conv, filters=5)
    recipe = document.recipe.with_values(learning_rate=0.25)
    count = document.undo_stack.count()
    document.take_trial(recipe, graph, "Use lr 0.25")
    assert texts(document)[count:] == ["Use lr 0.25"]
    assert (document.recipe, document.graph) == (recipe, graph)
    document.undo_stack.undo()
    assert document.recipe.learning_rate != 0.25
    assert document.graph.nodes[conv].params["filters"] == 32


def test_recipe_data_set_and_target(document, qtbot):
    with qtbot.waitSignals([document.recipe_changed, document.analysis_changed]):
        document.set_recipe(epochs=3)
    document.set_recipe(epochs=30)
    assert texts(document) == ["Change epochs"]
    with pytest.raises(ParamError):
        document.set_recipe(epochs=0)
    with qtbot.waitSignal(document.dataset_changed):
        document.set_dataset(Choice("folder", {"path": "/a"}))
    document.set_dataset(Choice("folder", {"path": "/ab"}))
    with qtbot.waitSignal(document.target_changed):
        document.set_target(Choice("virtual", {"replicas": 2}))
    assert texts(document)[1:] == ["Change data set", "Change data set", "Change target"]
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    assert document.project == Project(id=document.project_id)


def test_what_is_known_of_the_data(document, qtbot):
    assert document.dataset_facts.num_classes == 10
    document.set_dataset(Choice("folder", {"path": "/flowers"}))
    assert document.dataset_facts is None
    facts = DatasetFacts(shape=None, num_classes=5, title="flowers")
    with qtbot.waitSignal(document.analysis_changed):
        document.set_dataset_facts(facts)
    assert document.dataset_facts == facts
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert document.dataset_facts.num_classes == 10


def test_a_template_opens_arranged_and_clean(document, qtbot):
    with qtbot.waitSignals([document.project_replaced, document.analysis_changed]):
        document.new(find_template("small_resnet").project)
    assert set(document.positions) == set(document.graph.nodes)
    assert len(set(document.positions.values())) == len(document.graph.nodes)
    assert not document.is_dirty
    assert document.path is None
    assert document.analysis.costs.parameters.total == find_template("small_resnet").parameters


def test_saving_and_the_unsaved_mark(document, tmp_path):
    path, marks = tmp_path / "p.workbench", []
    document.dirty_changed.connect(marks.append)
    with pytest.raises(UsageError):
        document.save()
    _, b = chain(document, "input", "flatten")
    document.save(path)
    assert (document.path, document.is_dirty) == (path, False)
    document.rename(b, "flat")
    assert document.is_dirty
    document.undo_stack.undo()
    assert not document.is_dirty
    document.undo_stack.redo()
    document.save()
    document.set_view(0.5, (1.0, 2.0))
    assert marks == [True, False, True, False, True, False]
    assert read_project(path).graph == document.graph


def test_open_restores_graph_places_and_view(document, tmp_path):
    path = tmp_path / "p.workbench"
    a = document.add_node("input", (12.5, -3.0))
    document.set_view(1.5, (10.0, 20.0))
    document.save(path)
    text = project_text(document.project)
    document.new()
    assert not document.graph.nodes
    document.open(path)
    assert document.positions == {a: (12.5, -3.0)}
    assert document.project.view.zoom == 1.5
    assert project_text(document.project) == text
    assert document.undo_stack.count() == 0


def test_a_project_that_cannot_be_opened_leaves_the_old_one(document, tmp_path):
    chain(document, "input")
    path = tmp_path / "p.workbench"
    path.write_text("{")
    before = document.project
    with pytest.raises(ProjectFileError):
        document.open(path)
    assert document.project == before
    assert document.undo_stack.count() == 1
    assert document.is_dirty


def test_a_project_keeps_its_identity_until_it_is_copied(document, tmp_path, qtbot):
    assert document.project_id == ""
    document.new(find_template("lenet5").project)
    first = document.project_id
    document.new(find_template("lenet5").project)
    own = document.project_id
    assert own
    assert own != first
    path, moved, copy = (tmp_path / f"{name}.workbench" for name in ("a", "moved", "copy"))
    document.save(path)
    document.set_recipe(epochs=3)
    document.save()
    assert document.project_id == read_project(path).id == own
    path.rename(moved)
    document.save(tmp_path / "b.workbench")  # the file it was of is gone: no copy
    assert document.project_id == own
    with qtbot.waitSignal(document.identity_changed):
        document.save(copy)
    assert document.project_id == read_project(copy).id != own
    document.undo_stack.undo()  # an undo is of the edits, not of the identity
    assert document.project.id == read_project(copy).id
    with qtbot.waitSignal(document.identity_changed):
        document.open(moved)
    assert document.project_id == own


def test_the_first_edit_gives_an_identity(document, qtbot):
    with qtbot.waitSignal(document.identity_changed):
        document.set_recipe(epochs=3)
    assert document.project.id == document.project_id != ""


def test_a_restored_project_is_the_same_and_saved_beside_its_file_a_copy(document, tmp_path):
    document.new(find_template("lenet5").project)
    document.save(tmp_path / "a.workbench")
    project = document.project
    document.restore(project, tmp_path / "a.workbench")
    assert (document.path, document.project_id, document.is_dirty) == (None, project.id, False)
    document.save(tmp_path / "b.workbench")
    assert document.project_id != project.id


def test_a_failed_save_stays_unsaved(document, tmp_path):
    chain(document, "input")
    with pytest.raises(SaveError, match="not saved"):
        document.save(tmp_path / "missing" / "p.workbench")
    assert document.is_dirty
    assert document.path is None


def test_an_unconfirmed_save_is_reported_and_counts(document, tmp_path, monkeypatch):
    def unconfirmed(path, data, **_options):
        raise UnconfirmedSaveError("saved, but the disk did not confirm it")

    chain(document, "input")
    monkeypatch.setattr("workbench.document.project_edits.save_bytes", unconfirmed)
    with pytest.raises(UnconfirmedSaveError):
        document.save(tmp_path / "p.workbench")
    assert not document.is_dirty


def test_the_window_goes_on_while_a_slow_disk_is_written(document, tmp_path, monkeypatch, qtbot):
    from threading import Event

    from PySide6.QtCore import QTimer

    release, ticks = Event(), []

    def slow(path, data, **_options):
        assert release.wait(20)

    monkeypatch.setattr("workbench.document.project_edits.save_bytes", slow)

    def tick():  # runs only if the event loop turns during the save
        ticks.append(1)
        if len(ticks) == 3:
            release.set()

    timer = QTimer()
    timer.timeout.connect(tick)
    timer.start(1)
    document.save(tmp_path / "p.workbench")
    timer.stop()
    assert len(ticks) >= 3


def test_a_fix_of_the_recipe_is_applied_and_undone(document):
    document.set_recipe(label_smoothing=0.7)
    problem = next(p for p in document.analysis.problems if p.title == "Very high label smoothing")
    document.apply_fix(problem.fixes[0])
    assert document.recipe.label_smoothing == 0.1
    assert document.undo_stack.undoText() == problem.fixes[0].title
    document.undo_stack.undo()
    assert document.recipe.label_smoothing == 0.7


def test_a_new_input_has_the_shape_of_the_images(document):
    document.set_dataset(Choice("fashion_mnist", {}))
    assert document.dataset_facts.shape == (28, 28, 1)
    added = document.add_node("input")
    assert document.analysis.shapes[added] == (28, 28, 1)
    document.set_dataset_facts(DatasetFacts((64, 48, 3), None, ""))
    other = document.add_node("input")
    assert document.graph.nodes[other].params["shape"] == (64, 48, 3)
    document.set_dataset_facts(DatasetFacts(None, None, ""))
    last = document.add_node("input")
    assert document.graph.nodes[last].params["shape"] == (32, 32, 3)


def test_robustness_tests_are_saved_with_the_project_and_undone(document, tmp_path, qtbot):
    test = RobustnessTest("Soft", {"blur": 4.0})
    with qtbot.waitSignal(document.robustness_changed):
        document.set_robustness((test,), "Save robustness test Soft")
    document.save(tmp_path / "soft.workbench")
    assert read_project(tmp_path / "soft.workbench").robustness == (test,)
    assert document.undo_stack.undoText() == "Save robustness test Soft"
    with qtbot.waitSignal(document.robustness_changed):
        document.undo_stack.undo()
    assert document.project.robustness == ()


def test_a_change_of_recipe_and_layers_is_one_step(document):
    dense = document.add_node("dense")
    before, steps = document.project, document.undo_stack.count()
    layers = {dense: {"activation": "leaky_relu"}, "n99": {"units": 3}}  # n99 was removed since
    change = Change(recipe={"learning_rate": 0.01}, layers=layers)
    document.apply_change(change, "Apply: Dead units")
    assert document.recipe.learning_rate == 0.01
    assert document.graph.nodes[dense].params["activation"] == "leaky_relu"
    assert document.undo_stack.count() == steps + 1
    assert document.undo_stack.undoText() == "Apply: Dead units"
    document.undo_stack.undo()
    assert document.project == before


def test_a_change_of_a_layer_that_is_of_another_type_by_now_is_refused(document):
    node = document.add_node("flatten")
    before = document.project
    with pytest.raises(ParamError):
        document.apply_change(Change(layers={node: {"activation": "relu"}}), "Apply")
    assert document.project == before


def tops(document, ids):
    return [document.positions[key][1] for key in ids]


@pytest.mark.parametrize("how", ["move", "detach", "bypass"])
def test_a_layer_that_leaves_its_chain_leaves_no_gap(document, how):
    ids = chain(document, "input", "conv2d", "dropout", "flatten", "dense")
    first, conv, taken, *behind = ids
    before = dict(document.positions)
    if how == "move":
        document.move_onto(taken, Edge(first, conv), before[conv])
        assert document.graph.edges_from(taken)[0].target == conv
        column = [first, taken, conv, *behind]
        usual = chain_tops("input", "dropout", "conv2d", "flatten", "dense")
    elif how == "detach":
        document.detach(taken)
        column, usual = [first, conv, *behind], chain_tops("input", "conv2d", "flatten", "dense")
    else:
        document.bypass(taken)
        column, usual = [first, conv, *behind], chain_tops("input", "conv2d", "flatten", "dense")
    assert tops(document, column) == usual
    document.undo_stack.undo()
    assert document.positions == before


def chain_tops(*kinds):
    document = ProjectDocument(all_layers())
    return tops(document, chain(document, *kinds))


def test_what_another_branch_feeds_stays_below_it(document):
    first, conv, dropout = chain(document, "input", "conv2d", "dropout")
    long = [first]
    for _ in range(4):
        long.append(document.add_node("conv2d", after=long[-1]))
    add = document.add_node("add", after=dropout)
    document.connect(long[-1], add)
    document.arrange()
    document.bypass(dropout)
    assert document.graph.sources(add) == (conv, long[-1])
    assert document.positions[add][1] > document.positions[long[-1]][1]
