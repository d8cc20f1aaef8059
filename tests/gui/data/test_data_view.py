"""The data view, with a worker's answers played to it."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit

from tests.contexts import PlainContext
from tests.measurer import Measurer
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice
from workbench.core.specs import Inference, Option
from workbench.core.specs.dataset import ArrayPart, LoadedData
from workbench.core.training.recipe import TrainingRecipe
from workbench.gui.data.classes import ClassRow
from workbench.gui.data.contents import DataContentsPanel, ReadingBox
from workbench.gui.data.split import split_parts
from workbench.gui.data.split_counts import Given, class_counts, split_counts, split_words
from workbench.gui.kit.dialogs import InstallLink
from workbench.gui.kit.widgets import Box
from workbench.parts import HEIC
from workbench.pictures.portable.signatures import UNSUPPORTED
from workbench.pictures.prepare import prepare
from workbench.protocol.bases import ErrorParts
from workbench.protocol.describe_data import ClassDescription, DataDescription, DescribeData, Looked
from workbench.protocol.messages import Failed, Progress

DESCRIPTION = DataDescription(
    title="A folder",
    classes=[
        ClassDescription(name="<b>fly agaric</b>", num_train=60, num_test=12, split=[58, 7, 7]),
        ClassDescription(name="chanterelle", num_train=40, num_test=8, split=[39, 4, 5]),
    ],
    num_train=100,
    num_test=20,
    is_test_split_off=True,
    shape=[],
    typical_size=[64, 48, 3],
    bad_files=[("/home/a/x.png", "not a picture")],
    notes=['The class "chanterelle" is small.'],
)


@pytest.fixture
def asked(context, monkeypatch):
    """The view's requests to the service: (request, on_answer) in order."""
    asked = []

    def send(request, on_answer):
        asked.append((request, on_answer))
        return len(asked)

    monkeypatch.setattr(context.service, "send", send)
    return asked


@pytest.fixture(autouse=True)
def cancelled(context, monkeypatch):
    """Requests that the view has called off."""
    cancelled = []
    monkeypatch.setattr(context.service, "cancel", cancelled.append)
    return cancelled


@pytest.fixture
def measurer(context, monkeypatch):
    return Measurer(context, monkeypatch)


@pytest.fixture
def view(window, asked, qtbot):
    view = window.show_view("data")
    qtbot.waitUntil(lambda: len(asked) == 1)
    return view


def texts(view):
    return [label.text() for label in view.findChildren(QLabel)]


LABEL = Inference(
    "label",
    "Label column",
    "breed",
    "named in the header",
    doubt="Perhaps it is another.",
    param="fit",
    options=(Option("pad", "“padded”"), Option("stretch", "“stretched”")),
)


def test_what_was_inferred_is_shown_with_its_doubt_and_can_be_changed(view, context, qtbot):
    context.document.set_dataset(Choice("folder", {"path": "/flowers", "fit": "crop"}))
    plain = Inference("parts", "Parts", "train, test", "by folder names")
    told = Inference("range", "Range", "0 to 1", "all", doubt="No.", is_told=True)
    inferences = [LABEL, plain, told]
    panel = view.findChild(DataContentsPanel)
    panel.show_description(msgspec.structs.replace(DESCRIPTION, inferences=inferences))
    (box,) = view.findChildren(ReadingBox)
    shown = [label.text() for label in box.findChildren(QLabel)]
    assert {"Label column", "Named in the header.", "Perhaps it is another."} <= {*shown}
    assert {"Parts", "By folder names.", "Set in the data source."} <= {*shown}
    assert "No." not in shown
    (choice,) = box.findChildren(QComboBox)
    choice.activated.emit(0)
    choice.activated.emit(2)
    # Not before its list has closed, which goes with the box.
    assert context.document.project.dataset.params["fit"] == "crop"
    qtbot.waitUntil(lambda: context.document.project.dataset.params["fit"] == "stretch")
    context.document.undo_stack.undo()
    assert context.document.project.dataset.params["fit"] == "crop"


def test_requests_the_projects_data_when_shown(view, asked):
    request, _ = asked[0]
    assert isinstance(request, DescribeData)
    assert request.source == "fashion_mnist"
    assert view.panels["data_source"].cancel_button.isVisible()


def test_shows_progress_and_then_what_is_there(view, asked, context):
    _, answer = asked[0]
    answer(Progress(text="Opening the pictures", fraction=0.25))
    assert view.panels["data_source"].status.text() == "Opening the pictures"
    assert view.panels["data_source"].progress.value() == 250
    answer(DESCRIPTION)
    rows = view.panels["data_contents"].findChildren(ClassRow)
    assert [row.accessibleName() for row in rows] == [
        "<b>fly agaric</b>: 58 train, 7 validation, 7 test",
        "chanterelle: 39 train, 4 validation, 5 test",
    ]
    assert "1 file skipped" in texts(view)
    assert 'The class "chanterelle" is small.' in texts(view)
    assert not view.panels["data_source"].cancel_button.isVisible()
    assert context.document.dataset_facts.num_classes == 2


def test_all_cards_end_at_the_same_place(view, asked, window, qtbot):
    """Those of the contents too, while these need no scroll bar."""
    asked[0][1](DESCRIPTION)
    window.resize(1000, 1400)
    contents, above = view.panels["data_contents"], view.panels["data_network"]

    def right_of(widget):
        return widget.mapTo(view, widget.rect().topRight()).x()

    def ends():
        cards = [card for card in contents.findChildren(Box) if card.isVisible()]
        return {right_of(card) for card in (*cards, above)}

    area = view.findChild(DataContentsPanel)
    qtbot.waitUntil(lambda: len(ends()) == 1 and not area.verticalScrollBar().isVisible())
    window.resize(1000, 700)
    qtbot.waitUntil(area.verticalScrollBar().isVisible)
    cards = [card for card in contents.findChildren(Box) if card.isVisible()]
    bar = area.verticalScrollBar()
    left = bar.mapTo(view, bar.rect().topLeft()).x()
    assert all(right_of(card) < left - 4 for card in cards), "beside it there is a gap"


LISTED = msgspec.structs.replace(DESCRIPTION, bad_files=[], num_train=101, is_complete=False)
LOOKED = Looked(bad_files=[("/home/a/x.png", "not a picture")], shape=[], typical_size=[64, 48])
COMPLETE = msgspec.structs.replace(DESCRIPTION, looked=LOOKED)


def test_what_is_listed_is_shown_while_the_images_are_decoded(
    view, asked, measurer, context, qtbot
):
    source = view.panels["data_source"]
    assert asked[0][0].is_quick
    asked[0][1](LISTED)
    assert len(view.panels["data_contents"].findChildren(ClassRow)) == 2
    assert view.state.is_described
    assert "about 48 × 64, color" in texts(view), "by some of the images"
    assert context.document.dataset_facts.num_classes == 2
    assert source.cancel_button.isVisible()
    (request,) = measurer.requests
    assert isinstance(request, DescribeData)
    assert not request.is_quick
    measurer.answer(Progress(text="Reading the images", fraction=0.5))
    assert source.status.text() == "Reading the images"
    measurer.answer(COMPLETE)
    assert "1 file skipped" in texts(view)
    assert "48 × 64, color" in texts(view)
    assert not source.cancel_button.isVisible()
    assert context.document.dataset_facts.num_train == 100
    context.document.set_edits(DataEdits(left_out=frozenset({"0" * 32})), "Leave out")
    qtbot.waitUntil(lambda: len(asked) == 2)
    assert asked[1][0].looked == LOOKED
    asked[1][1](COMPLETE)
    assert len(measurer.requests) == 1, "what has been decoded is known"
    source.describe_button.click()
    assert asked[2][0].looked is None


def test_what_is_listed_stays_when_decoding_is_canceled(view, asked, measurer):
    asked[0][1](LISTED)
    view.panels["data_source"].cancel_button.click()
    assert measurer.cancelled == [1]
    measurer.answer(Failed(error=ErrorParts(what="Canceled.")))
    assert view.panels["data_source"].status.text() == "Canceled."
    assert view.panels["data_source"].describe_button.isVisible()
    assert len(view.panels["data_contents"].findChildren(ClassRow)) == 2


def test_another_source_calls_the_decoding_off(view, asked, measurer, context, qtbot):
    asked[0][1](LISTED)
    context.document.set_dataset(Choice("npz", {"path": "/home/a/b.npz"}))
    assert measurer.cancelled == [1]
    measurer.answer(COMPLETE)
    assert not view.panels["data_contents"].findChildren(ClassRow)


def test_neither_a_name_that_is_typed_nor_a_selection_is_lost(view, asked, measurer, qtbot):
    asked[0][1](LISTED)
    first, second = view.panels["data_contents"].findChildren(ClassRow)
    second.pressed.emit(Qt.KeyboardModifier.NoModifier)
    first.rename()
    field = first.findChild(QLineEdit)
    measurer.answer(COMPLETE)
    assert field.isVisible()
    assert "1 file skipped" not in texts(view)
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: "1 file skipped" in texts(view))
    rows = view.panels["data_contents"].findChildren(ClassRow)
    assert [row.is_selected for row in rows][-2:] == [False, True]


def test_what_is_split_off_is_counted_once_and_sizes_are_width_by_height(view, asked):
    _, answer = asked[0]
    answer(DESCRIPTION)
    shown = texts(view)
    assert shown[shown.index("Images") + 1] == "120"
    assert "Test set" not in shown
    assert shown[shown.index("Typical width × height") + 1] == "48 × 64, color"


def test_a_published_test_set_is_counted_beside_the_training_set(view, asked):
    _, answer = asked[0]
    answer(msgspec.structs.replace(DESCRIPTION, is_test_split_off=False, shape=[28, 32, 1]))
    shown = texts(view)
    assert shown[shown.index("Training set") + 1] == "100 images"
    assert shown[shown.index("Test set") + 1] == "20 images"
    assert shown[shown.index("Width × height") + 1] == "32 × 28, grayscale"


def test_a_refusal_is_shown_in_place(view, asked):
    _, answer = asked[0]
    answer(Failed(error=ErrorParts(what="The folder is empty.", where="/home/a", fix="Fill it.")))
    assert "The folder is empty." in texts(view)
    assert view.panels["data_source"].describe_button.isVisible()


def test_a_decoder_that_skipped_photos_need_can_be_installed_there(view, asked):
    reason = f"This file is not an image that can be read: {UNSUPPORTED['HEIC']}"
    photos = [("/home/a/notes.jpg", "text"), ("/home/a/1.heic", reason)]
    _, answer = asked[0]
    answer(msgspec.structs.replace(DESCRIPTION, bad_files=photos, needed_parts=[HEIC.key]))
    links = [link.text() for link in view.findChildren(InstallLink) if link.isVisible()]
    assert links == [f"Install {HEIC.library}…"]
    answer(msgspec.structs.replace(DESCRIPTION, bad_files=photos[:1]))
    assert not any(link.isVisible() for link in view.findChildren(InstallLink))


def test_the_split_of_a_new_project_is_no_change_of_anybody(view, context):
    form = view.panels["data_split"].form
    fold = form.sections["Split"]
    context.document.set_recipe(split="content")
    assert fold.note() == ""
    assert form.editor_widget("split_seed").text() == "as Seed"
    context.document.set_recipe(split_seed=3)
    assert fold.note() == "1 not default"


def test_an_answer_about_another_source_is_passed_over(view, asked, context, qtbot):
    _, first = asked[0]
    context.document.set_dataset(Choice("npz", {"path": "/home/a/b.npz"}))
    qtbot.waitUntil(lambda: len(asked) == 2)
    first(DESCRIPTION)
    assert not view.panels["data_contents"].findChildren(ClassRow)


def test_a_source_without_its_path_is_not_asked_about(view, asked, context, qtbot):
    context.document.set_dataset(Choice("folder", {"path": "", "fit": "crop"}))
    assert "Choose" in view.panels["data_source"].status.text()
    assert not view.state._timer.isActive()


def test_a_source_chosen_again_is_looked_at_again(view, asked, context, qtbot):
    asked[0][1](DESCRIPTION)
    context.document.set_dataset(Choice("cifar10", {}))
    assert "downloaded" in view.panels["data_source"].status.text()
    context.document.undo_stack.undo()
    qtbot.waitUntil(lambda: len(asked) == 2)
    asked[1][1](DESCRIPTION)
    assert len(view.panels["data_contents"].findChildren(ClassRow)) == 2


def test_a_download_is_not_requested_and_the_source_before_is_no_longer_shown(
    view, asked, context, cancelled
):
    context.document.set_dataset(Choice("cifar10", {}))
    assert cancelled == [1]
    assert not view.panels["data_source"].cancel_button.isVisible()
    for answer in (DESCRIPTION, Failed(error=ErrorParts(what="Canceled."))):
        asked[0][1](answer)
    assert not view.panels["data_contents"].findChildren(ClassRow)
    assert "Canceled." not in texts(view)
    assert context.document.dataset_facts.num_classes == 10
    assert len(asked) == 1


def test_a_replaced_project_keeps_the_facts_of_its_source_and_looks_again(
    view, asked, context, qtbot
):
    document = context.document
    document.set_dataset(Choice("npz", {"path": "/home/a/b.npz"}))
    qtbot.waitUntil(lambda: len(asked) == 2)
    asked[1][1](DESCRIPTION)
    project = document.project
    document.new(project)
    assert document.dataset_facts.num_classes == 2
    qtbot.waitUntil(lambda: len(asked) == 3)
    document.new(project)  # the answer is on its way: nothing is asked twice
    asked[2][1](DESCRIPTION)
    assert len(view.panels["data_contents"].findChildren(ClassRow)) == 2
    assert len(asked) == 3


def test_choosing_a_source_is_undoable(view, context):
    index = view.panels["data_source"].chooser.sources.findData("cifar10")
    view.panels["data_source"].chooser.sources.activated.emit(index)
    assert context.document.project.dataset.key == "cifar10"
    context.document.undo_stack.undo()
    assert context.document.project.dataset.key == "fashion_mnist"
    assert view.panels["data_source"].chooser.sources.currentData() == "fashion_mnist"


@pytest.mark.parametrize("validation", ["split", "test", "none"])
@pytest.mark.parametrize("has_test", [True, False])
def test_the_split_shown_is_that_of_a_run(validation, has_test, tmp_path):
    labels = np.repeat(np.arange(3), (36, 37, 3))
    recipe = TrainingRecipe(validation=validation, validation_share=0.2)
    pictures = np.zeros((len(labels), 2, 2, 1), np.uint8)
    loaded = LoadedData(
        class_names=("a", "b", "c"),
        train=ArrayPart(pictures, labels),
        test=ArrayPart(pictures[:7], labels[:7]) if has_test else None,
    )
    data = prepare(
        loaded, shape=(2, 2, 1), fit="stretch", recipe=recipe, ctx=PlainContext(tmp_path)
    )
    parts = (data.train, data.validation, data.test)
    sizes = tuple(len(part) if part is not None else 0 for part in parts)
    given = Given((36, 37, 3), 7 if has_test else 0)
    assert split_counts(given, recipe) == sizes
    shown = sum(part.size for part in split_parts(given, recipe))
    assert shown == len(labels) + (7 if has_test else 0), "each image once"
    for label, num_images in enumerate((36, 37, 3)):
        counts = class_counts(num_images, recipe, given.num_test)
        for part, size in zip(parts[:2], counts[:2], strict=True):
            if validation == "split" or part is data.train:
                assert size == int((np.asarray(part.y) == label).sum())


def test_the_words_have_the_numbers_beside_them(view, asked, context):
    """Eighteen images in three classes: shares of whole images are not those of the recipe."""
    _, answer = asked[0]
    classes = [
        ClassDescription(name=name, num_train=5, num_test=1, split=[4, 1, 1]) for name in "abc"
    ]
    description = msgspec.structs.replace(
        DESCRIPTION, classes=classes, num_train=15, num_test=3, bad_files=[]
    )
    context.document.set_recipe(validation_share=0.19, test_share=0.1, split="order")
    answer(description)
    words = view.panels["data_split"].words
    assert words.text().startswith(
        "3 (17%) of 18 images are held out for testing. 3 (20%) of 15 remaining images are held "
        "out for validation, to detect overfitting."
    )
    rows = view.panels["data_contents"].findChildren(ClassRow)
    assert rows[0].accessibleName() == "a: 4 train, 1 validation, 1 test"
    context.document.set_recipe(validation="none", test_share=0.34)
    assert words.text().startswith("6 (33%) of 18 images are held out for testing. No validation")
    assert rows[0].accessibleName() == "a: 4 train, 2 test"
    given_test = msgspec.structs.replace(description, is_test_split_off=False, num_test=3)
    form = view.panels["data_split"].form
    assert not form.editor_widget("test_share").isHidden()
    answer(given_test)
    assert form.editor_widget("test_share").isHidden()
    context.document.set_recipe(validation="split", validation_share=0.2)
    rows = view.panels["data_contents"].findChildren(ClassRow)
    assert rows[0].accessibleName() == "a: 4 train, 1 validation, 1 test"
    assert "3 (20%) of 15 training images are held out for validation" in words.text()


def test_the_split_is_worded_once_the_source_is_known():
    split, test_set = TrainingRecipe(validation="split"), TrainingRecipe(validation="test")
    assert split_words(Given(), split) == ""
    assert "held out for testing" in split_words(Given((50, 50)), test_set)
    assert "seed 7" in split_words(Given((50, 50)), test_set)
    assert "seed 7" in split_words(Given((50, 50), 20), split)
    assert "seed" not in split_words(Given((50, 50), 20), test_set), "nothing is split"


def test_published_validation_images_are_counted_as_a_run_uses_them():
    split = TrainingRecipe(validation="split", validation_share=0.2)
    given = Given((50, 50), 20, 8)
    assert split_counts(given, split) == (100, 8, 20)
    assert "The 8 validation images of the data set" in split_words(given, split)
    assert "seed" not in split_words(given, split), "nothing is split"
    assert split_counts(given, split.with_values(validation="none")) == (100, 0, 20)
