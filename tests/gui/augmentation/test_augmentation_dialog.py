"""The augmentation dialog over the real window, with previews of a real service worker."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.gui.design.test_menus import center, choose, right_click, words
from tests.looks import flaws_of
from workbench.core.checks.images import DatasetFacts
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.gui.augmentation.dialog import AugmentationDialog
from workbench.layers import all_layers

pytestmark = pytest.mark.worker

LEFT = Qt.MouseButton.LeftButton
WAIT_MS = 60_000
CLASSES, SIDE = ("ash", "birch"), 40
KINDS = ["random_flip", "random_rotation", "random_contrast"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trees")
    random = np.random.default_rng(1)
    for name in CLASSES:
        (folder / name).mkdir()
        for number in range(8):
            small = Image.fromarray(random.integers(0, 256, (4, 4, 3), np.uint8))
            small.resize((50, 60)).save(folder / name / f"{number}.png")
    return folder


def project(folder, kinds=KINDS, channels=3, **recipe):
    """Input, augmentation, and a classifier; one image a class."""
    layers = all_layers()
    rest = [("flatten", {}), ("dense", {"units": 2, "activation": "softmax"})]
    chain = [("input", {"shape": (SIDE, SIDE, channels)}), *((kind, {}) for kind in kinds), *rest]
    nodes = [
        Node(f"n{n}", kind, f"{kind}_{n}", {**layers[kind].defaults(), **params})
        for n, (kind, params) in enumerate(chain)
    ]
    edges = [Edge(f"n{n}", f"n{n + 1}") for n in range(len(nodes) - 1)]
    return Project(
        graph=Graph.of(nodes, edges),
        dataset=Choice("folder", {"path": str(folder), "fit": "crop"}),
        recipe=TrainingRecipe().with_values(**recipe),
    )


@pytest.fixture
def opened(window, folder):
    """Opens the dialog by the menu, on a project."""

    def open_on(some=None):
        window.files.new(some or project(folder))
        window.resize(1024, 700)
        window.actions_by_key["augmentation"].trigger()
        return dialog_of(window)

    return open_on


def dialog_of(window):
    (dialog,) = (d for d in window.findChildren(AugmentationDialog) if d.isVisible())
    return dialog


def kinds(document):
    return [document.graph.nodes[key].kind for key in document.augmentation]


def newer(dialog, qtbot, change):
    """The images that come after a change."""
    before = dialog.grid.rows
    change()
    qtbot.waitUntil(lambda: dialog.grid.rows not in (before, []), timeout=WAIT_MS)
    return dialog.grid.rows


def pixels(rows):
    return [[bytes(image.constBits()) for image in row.images] for row in rows]


def first_rows(dialog, qtbot):
    qtbot.waitUntil(lambda: bool(dialog.grid.rows), timeout=WAIT_MS)
    return dialog.grid.rows


def press_box(dialog, row):
    """Clicks the check box of a row."""
    rect = dialog.list.visualItemRect(dialog.list.item(row))
    place = rect.topLeft()
    QTest.mouseClick(dialog.list.viewport(), LEFT, pos=place.__class__(14, rect.center().y()))


def drop(dialog, row, to):
    """Drags a row and drops it on the upper part of another."""
    dialog.list.setCurrentRow(row)
    rect = dialog.list.visualItemRect(dialog.list.item(to))
    place = QPointF(rect.center().x(), rect.top() + 2)
    mime = dialog.list.model().mimeData([dialog.list.currentIndex()])
    assert isinstance(mime, QMimeData)
    event = QDropEvent(place, Qt.DropAction.MoveAction, mime, LEFT, Qt.KeyboardModifier.NoModifier)
    event.source = lambda: dialog.list
    dialog.list.dropEvent(event)


def test_own_images_are_shown_as_training_gets_them_and_follow_each_edit(opened, qtbot, context):
    dialog, document = opened(), context.document
    rows = first_rows(dialog, qtbot)
    assert len(rows) == 4
    assert {row.label for row in rows} <= set(CLASSES)
    assert all(image.size().toTuple() == (SIDE, SIDE) for row in rows for image in row.images)
    first = pixels(rows)
    assert all(len({*images}) > 3 for images in first), "variants differ"
    dialog.select("n3")
    field = dialog.form.editor_widget("factor")
    field.lineEdit().selectAll()
    QTest.keyClicks(field.lineEdit(), "1")

    def enter():
        QTest.keyClick(field.lineEdit(), Qt.Key.Key_Return)
        assert dialog.isVisible(), "Enter in a field closes nothing"

    stronger = pixels(newer(dialog, qtbot, enter))
    assert document.graph.nodes["n3"].params["factor"] == 1
    assert [images[0] for images in stronger] == [images[0] for images in first]
    assert stronger != first
    assert pixels(newer(dialog, qtbot, document.undo_stack.undo)) == first
    others = pixels(newer(dialog, qtbot, lambda: qtbot.mouseClick(dialog.variants, LEFT)))
    assert [images[0] for images in others] == [images[0] for images in first]
    assert others != first
    more = pixels(newer(dialog, qtbot, lambda: qtbot.mouseClick(dialog.images, LEFT)))
    assert [images[0] for images in more] != [images[0] for images in first]


def test_the_newest_edit_counts(opened, qtbot, context):
    dialog, document = opened(), context.document
    first_rows(dialog, qtbot)
    seen = []
    dialog.previewer.shown.connect(seen.append)
    for factor in (0.1, 0.3, 0.5, 0.7):
        document.set_params("n3", factor=factor)
        document.set_params("n2", factor=factor)
    qtbot.waitUntil(lambda: bool(seen), timeout=WAIT_MS)
    once = pixels(seen[-1])
    assert len(seen) == 1, "edits in a row are one request"
    document.set_params("n3", factor=0.2)
    qtbot.waitUntil(lambda: dialog.previewer._question.is_open)
    document.set_params("n3", factor=0.7)
    qtbot.waitUntil(lambda: len(seen) > 1, timeout=WAIT_MS)
    assert pixels(seen[-1]) == once, "what was outdated is never shown"
    document.rename("n5", "scores")  # changes no pixel
    assert not dialog.previewer._timer.isActive()


def test_layers_are_dragged_to_another_place(opened, context):
    dialog, document = opened(), context.document
    places = document.positions
    drop(dialog, 2, 0)
    assert kinds(document) == ["random_contrast", "random_flip", "random_rotation"]
    assert document.positions["n3"] == places["n1"], "the cards change places too"
    assert document.graph.sources("n3") == ("n0",)
    assert document.graph.sources("n4") == ("n2",)
    drop(dialog, 0, 2)
    assert kinds(document) == ["random_flip", "random_contrast", "random_rotation"]
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert kinds(document) == KINDS
    qapp = QApplication.instance()
    qapp.processEvents()
    dialog.list.setCurrentRow(0)
    assert not dialog.up.isEnabled()
    QTest.mouseClick(dialog.down, LEFT)
    assert kinds(document) == ["random_rotation", "random_flip", "random_contrast"]
    assert dialog.list.currentRow() == 1, "the moved layer stays selected"


def test_a_layer_is_switched_off_and_on_again_with_its_values(opened, context):
    dialog, document = opened(), context.document
    document.set_params("n2", factor=0.33)
    press_box(dialog, 1)
    assert kinds(document) == ["random_flip", "random_contrast"]
    assert [row.is_on for row in dialog.list.rows] == [True, False, True]
    assert dialog.list.item(1).checkState() == Qt.CheckState.Unchecked
    press_box(dialog, 1)
    assert kinds(document) == KINDS
    new = document.augmentation[1]
    assert document.graph.nodes[new].params["factor"] == 0.33
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.augmentation == ("n1", "n2", "n3")
    assert [row.is_on for row in dialog.list.rows] == [True, True, True]


def test_layers_are_added_and_removed(opened, context):
    dialog, document = opened(), context.document
    entries = {action.text(): action for action in dialog.add.menu().actions()}
    assert "Rescaling" not in entries
    entries["RandomZoom"].trigger()
    assert kinds(document) == [*KINDS, "random_zoom"]
    assert dialog.list.currentRow() == 3
    QTest.mouseClick(dialog.remove, LEFT)
    assert kinds(document) == KINDS
    while document.augmentation:
        QTest.mouseClick(dialog.remove, LEFT)
    assert document.graph.targets("n0") == ("n4",)
    assert dialog.hint.isVisible()
    entries["RandomFlip"].trigger()
    assert document.graph.sources(document.augmentation[0]) == ("n0",)


@pytest.mark.full_but("3-True")
@pytest.mark.parametrize(("channels", "is_flipped"), [(3, True), (1, False)])
def test_a_chain_that_fits_the_images_is_suggested(opened, qtbot, folder, channels, is_flipped):
    dialog = opened(project(folder, [], channels=channels))
    document = dialog.parent().context.document
    rows = first_rows(dialog, qtbot)
    assert all(len({*images}) == 1 for images in pixels(rows)), "nothing is changed yet"
    after = newer(dialog, qtbot, lambda: qtbot.mouseClick(dialog.suggest, LEFT))
    assert all(len({*images}) > 3 for images in pixels(after))
    assert ("random_flip" in kinds(document)) == is_flipped
    assert f"{dialog.previewer.num_train} training images" in dialog.reason.text()
    assert document.undo_stack.undoText() == "Set augmentation"
    count = document.undo_stack.count()
    qtbot.mouseClick(dialog.suggest, LEFT)
    assert document.undo_stack.count() == count, "it is there already"
    document.undo_stack.undo()
    assert not document.augmentation
    assert not dialog.reason.text()


@pytest.mark.full
def test_a_suggestion_that_is_asked_for_at_once_follows_the_counting(opened, qtbot, folder):
    dialog = opened(project(folder, []))
    document = dialog.parent().context.document
    assert dialog.previewer.num_train is None
    qtbot.mouseClick(dialog.suggest, LEFT)
    assert "the suggestion follows" in dialog.reason.text()
    qtbot.waitUntil(lambda: bool(document.augmentation), timeout=WAIT_MS)
    assert f"{dialog.previewer.num_train} training images" in dialog.reason.text()


@pytest.mark.full
def test_the_suggestion_counts_the_images_that_the_data_view_counts(opened, qtbot, folder):
    dialog = opened(project(folder, []))
    document = dialog.parent().context.document
    first_rows(dialog, qtbot)
    before = dialog.previewer.num_train
    unreadable = tuple(str(file) for file in (folder / "ash").iterdir())
    document.set_dataset_facts(DatasetFacts(None, 2, "Folder", unreadable=unreadable))
    qtbot.waitUntil(lambda: dialog.previewer.num_train == before // 2, timeout=WAIT_MS)
    qtbot.mouseClick(dialog.suggest, LEFT)
    assert f" {before // 2} training images" in f" {dialog.reason.text()}"


def test_what_copies_cost_with_frozen_layers_is_said(opened, context, folder):
    dialog, document = opened(project(folder, ["random_flip"])), context.document
    assert "differently in each epoch" in dialog.cost.text()
    dialog.close()
    frozen = project(folder, ["random_flip"])
    conv = Node("n9", "conv2d", "conv", all_layers()["conv2d"].defaults(), training="never")
    graph = frozen.graph.without_edge(Edge("n1", "n2")).with_node(conv)
    graph = graph.with_edge(Edge("n1", "n9")).with_edge(Edge("n9", "n2"))
    document.new(Project(graph=graph, dataset=frozen.dataset, recipe=frozen.recipe))
    dialog = opened(document.project)
    assert dialog.cost.text().startswith("4 augmented copies")
    assert "4 times as long" in dialog.cost.text()
    document.set_recipe(augmented_copies=7)
    assert "7 times as long" in dialog.cost.text()
    document.set_recipe(random_erasing=0.5, mixing="mixup")
    assert "random erasing of 50% of the images and mixup" in dialog.recipe.text()
    assert "differently" in dialog.cost.text(), "mixtures cannot be computed ahead"


def test_without_images_or_input_it_says_what_to_do(opened, context, folder):
    dialog = opened(project(""))
    assert "Choose images in the Data view" in dialog.status.text()
    context.document.set_dataset(Choice("folder", {"path": str(folder), "fit": "crop"}))
    context.document.remove(["n0"])
    assert "Add an Input layer" in dialog.status.text()
    dialog.add.menu().actions()[0].trigger()
    assert "Input" in dialog.error.text()


def test_a_folder_that_is_gone_is_reported(opened, qtbot, folder, tmp_path):
    dialog = opened(project(tmp_path / "gone"))
    qtbot.waitUntil(lambda: dialog.status.property("role") == "bad", timeout=WAIT_MS)
    assert not dialog.grid.rows


def test_it_is_reached_from_the_inspector_and_from_the_data_view(window, context, folder, qtbot):
    window.files.new(project(folder))
    window.resize(1024, 700)
    design = window.show_view("design")
    inspector = design.panels["inspector"].findChild(object, "inspector_page").parent().parent()
    design.canvas.select(["n4"])
    assert not inspector.preview.isVisible()
    design.canvas.select(["n2"])
    qtbot.mouseClick(inspector.preview, LEFT)
    dialog = dialog_of(window)
    assert dialog.list.current().node_id == "n2"
    panel = window.show_view("data").panels["data_augmentation"]
    layers, elsewhere = panel.words.text().splitlines()
    assert layers == "RandomFlip → RandomRotation → RandomContrast"
    assert "in Train" in elsewhere
    qtbot.mouseClick(panel.open_button, LEFT)
    assert dialog_of(window) is dialog, "one at a time"


@pytest.mark.full_but("light")
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_nothing_is_clipped_in_a_small_window(opened, qtbot, qapp, context, mode):
    context.theme.set_mode(mode)
    context.theme.apply(qapp)
    dialog = opened()
    first_rows(dialog, qtbot)
    dialog.resize(dialog.minimumSize())
    qapp.processEvents()
    assert not flaws_of(dialog)


def test_it_is_reached_from_the_menu_of_an_augmentation_layer(window, folder, qtbot):
    window.files.new(project(folder))
    window.resize(1024, 700)
    panel = window.show_view("design").canvas
    panel.view.fit()
    menu = right_click(panel, center(panel, "n5"))
    assert "Preview augmentation…" not in words(menu)
    menu.close()
    QApplication.instance().sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    choose(right_click(panel, center(panel, "n3")), "Preview augmentation…")
    assert dialog_of(window).list.current().node_id == "n3"
