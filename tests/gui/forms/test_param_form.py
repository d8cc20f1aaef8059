"""The form made from parameters."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QToolButton, QWidget

from workbench.core.params import (
    BoolParam,
    ChoiceParam,
    FloatParam,
    IntParam,
    PathParam,
    ShapeParam,
    SizeParam,
    TextParam,
)
from workbench.gui.forms.param_editors import PathLine, parse_numbers
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.layout import scroll_area

KERNEL = SizeParam(key="kernel", title="Kernel", default=(3, 3), help="Its size.")
PARAMS = (
    IntParam(key="filters", title="Filters", default=32, minimum=1, help="How many."),
    IntParam(key="steps", title="Steps", default=None, minimum=1, is_optional=True, help="Or all."),
    KERNEL,
    ShapeParam(key="shape", title="Shape", default=(-1,), can_infer=True, help="New shape."),
    ChoiceParam(
        key="padding", title="Padding", default="valid", choices=("valid", "same"), help="Edge."
    ),
    BoolParam(key="bias", title="Bias", default=True, help="Adds one."),
    PathParam(key="path", title="File", default="", help="Where."),
    TextParam(key="zone", title="Zone", default="", pattern="[a-z0-9-]*", help="Where it is."),
    FloatParam(
        key="decay", title="Decay", default=None, step=0.001, is_optional=True, help="Pull."
    ),
    FloatParam(
        key="rate", title="Rate", default=0.001, maximum=1.0, help="Size.", is_advanced=True
    ),
)


@pytest.fixture
def form(qtbot):
    form = ParamForm(PARAMS, {"filters": 8})
    qtbot.addWidget(form)
    form.show()
    return form


def type_into(qtbot, widget, text):
    target = widget.lineEdit() if hasattr(widget, "lineEdit") else widget
    target.selectAll()
    qtbot.keyClicks(target, text)
    qtbot.keyClick(target, Qt.Key.Key_Return)


def test_shows_values_and_defaults(form):
    assert form.editor_widget("filters").value() == 8
    assert form.editor_widget("steps").text() == "automatic"
    assert form.editor_widget("kernel").text() == "3 × 3"
    assert form.editor_widget("rate").text() == "0.001"
    assert form.editor_widget("decay").text() == "automatic"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("filters", "64", 64),
        ("steps", "12", 12),
        ("kernel", "5x7", (5, 7)),
        ("kernel", "5", (5, 5)),
        ("shape", "7, rest, 2", (7, -1, 2)),
        ("rate", "1e-05", 1e-5),
        ("decay", "0", 0.0),
        ("decay", "0.01", 0.01),
        ("zone", "us-central1-a", "us-central1-a"),
    ],
)
def test_typing_emits_the_canonical_value(form, qtbot, key, text, value):
    with qtbot.waitSignal(form.value_changed) as emitted:
        type_into(qtbot, form.editor_widget(key), text)
    assert emitted.args == [key, value]


def test_an_optional_number_is_stepped_out_of_nothing_and_back(form):
    box = form.editor_widget("decay")
    emitted = []
    form.value_changed.connect(lambda key, value: emitted.append((key, value)))
    box.stepUp()
    assert box.text() == "0"
    box.stepDown()
    assert box.text() == "automatic"
    assert emitted == [("decay", 0.0), ("decay", None)]
    form.set_values({"decay": 0.5})
    assert box.text() == "0.5"
    form.set_values({"decay": None})
    assert box.text() == "automatic"


@pytest.mark.parametrize("key", ["steps", "decay"])
def test_a_number_typed_behind_a_word_replaces_it(form, qtbot, key):
    box = form.editor_widget(key)
    qtbot.mouseClick(box.lineEdit(), Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(form.value_changed) as emitted:
        qtbot.keyClicks(box, "5")
        qtbot.keyClick(box, Qt.Key.Key_Return)
    assert emitted.args == [key, 5]


def test_zeros_with_a_meaning_are_an_empty_field(qtbot):
    text = "same as pool size"
    strides = SizeParam(
        key="strides", title="Strides", default=(0, 0), minimum=0, zero_text=text, help="Step."
    )
    form = ParamForm((strides,), {})
    qtbot.addWidget(form)
    form.show()
    line = form.editor_widget("strides")
    assert (line.text(), line.placeholderText()) == ("", text)
    with qtbot.waitSignal(form.value_changed) as emitted:
        type_into(qtbot, line, "2")
    assert emitted.args == ["strides", (2, 2)]
    with qtbot.waitSignal(form.value_changed) as emitted:
        line.selectAll()
        qtbot.keyClick(line, Qt.Key.Key_Delete)
        qtbot.keyClick(line, Qt.Key.Key_Return)
    assert emitted.args == ["strides", (0, 0)]
    assert strides.show((0, 0)) == text


def test_a_wrong_value_is_marked_and_not_emitted(form, qtbot):
    with qtbot.assertNotEmitted(form.value_changed):
        type_into(qtbot, form.editor_widget("kernel"), "0x3")
    message = form._messages.get("kernel", "")
    assert message.startswith("“0x3” was not accepted. Enter one or two whole numbers from 1")
    with qtbot.waitSignal(form.value_changed):
        type_into(qtbot, form.editor_widget("kernel"), "1x3")
    assert form._messages.get("kernel", "") == ""


def test_setting_values_emits_nothing(form, qtbot):
    with qtbot.assertNotEmitted(form.value_changed):
        form.set_values({"filters": 99, "padding": "same", "bias": False, "rate": 0.5})
    assert form.editor_widget("padding").currentText() == "same"


def test_a_wrong_stored_value_says_so(form):
    form.set_values({"filters": -3})
    assert "-3" in form._messages.get("filters", "")


def test_advanced_rows_are_folded(form, qtbot):
    assert not form.editor_widget("rate").isVisible()
    fold = form.findChild(QToolButton)
    qtbot.mouseClick(fold, Qt.MouseButton.LeftButton)
    assert form.editor_widget("rate").isVisible()


@pytest.mark.parametrize("key", ["steps", "decay", "padding"])
def test_the_wheel_passes_by_a_field_without_the_focus(form, qtbot, key):
    widget = form.editor_widget(key)
    middle = QPointF(widget.rect().center())
    shown = form._values[key]
    assert not turn_wheel(widget, middle)
    assert form._values[key] == shown
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus)
    assert turn_wheel(widget, middle)


def turn_wheel(widget, place) -> bool:
    """One notch down; whether the widget used it."""
    event = QWheelEvent(
        place,
        widget.mapToGlobal(place),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,  # not inverted
    )
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


def test_what_is_typed_replaces_a_word(form, qtbot):
    steps = form.editor_widget("steps")
    assert steps.text() == "automatic"
    qtbot.keyClicks(steps, "7")
    qtbot.keyClick(steps, Qt.Key.Key_Return)
    assert form._values["steps"] == 7


def test_every_editor_has_a_name_and_labels_are_plain(form):
    for param in PARAMS:
        assert form.editor_widget(param.key).accessibleName() == param.title
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in form.findChildren(QLabel))


@pytest.mark.parametrize(
    ("text", "value"), [("(3, 3)", [3, 3]), ("3 × 4", [3, 4]), ("2", 2), ("a", "a"), ("", "")]
)
def test_parse_numbers(text, value):
    assert parse_numbers(text, KERNEL) == value


def test_a_long_message_has_all_its_height(form, qtbot):
    # As panels hold it: a window of its own does not grow with a text that needs more lines.
    area = scroll_area(form)
    area.setFixedWidth(280)
    qtbot.addWidget(area)
    area.show()
    widget = form.editor_widget("kernel")
    type_into(qtbot, widget, "abc")
    label = form._errors["kernel"]
    # Two passes of the layout: the width first, the height that follows from it in a later one.
    qtbot.waitUntil(lambda: label.isVisible() and label.width() < 300)
    qtbot.waitUntil(lambda: label.height() >= label.heightForWidth(label.width()))
    area.takeWidget()  # it has an owner


def test_the_tip_of_a_choice_lists_the_words_of_its_list(qtbot):
    titles = {"split": "held-out split", "test": "test set"}
    choices = ("split", "test", "none")
    param = ChoiceParam(
        key="v", title="V", default="split", choices=choices, titles=titles, help="Images."
    )
    form = ParamForm([param], {})
    qtbot.addWidget(form)
    tip = form.findChild(QWidget, "param_v").toolTip()
    assert "Allowed: one of held-out split, test set, none." in tip
    assert param.expected() == "one of split, test, none", "what the command line takes"


def test_the_tip_of_a_box_to_check_does_not_say_what_it_may_be(qtbot):
    param = BoolParam(key="v", title="V", default=True, help="Keeps each image.")
    form = ParamForm([param], {})
    qtbot.addWidget(form)
    assert form.findChild(QWidget, "param_v").toolTip() == "Keeps each image."


@pytest.fixture
def folder_line(qtbot):
    param = PathParam(key="v", title="Folder", default="", is_folder=True, help="Images.")
    form = ParamForm([param], {"v": "/work/scratch/of a project/eyes_pics"})
    qtbot.addWidget(form)
    form.resize(340, 60)
    form.show()
    qtbot.waitExposed(form)
    return form.findChild(PathLine)


def test_a_path_is_cut_at_the_names_of_its_folders(folder_line):
    def cut(words):
        return folder_line.words_within(folder_line.fontMetrics().horizontalAdvance(words))

    whole = folder_line.text()
    assert cut(whole) == whole
    assert cut("…/of a project/eyes_pics") == "…/of a project/eyes_pics"
    assert cut("…f a project/eyes_pics") == "…/eyes_pics"
    assert cut("eyes_pics") == "eyes_pics"
    both_ends = cut("eyes_pic")
    assert both_ends.startswith("e")
    assert both_ends.endswith("s")
    assert "…" in both_ends


def test_what_is_painted_of_a_long_path_is_its_end_from_a_name_on(folder_line):
    """It looks as a field that holds just those words."""
    folder_line.setFixedWidth(folder_line.fontMetrics().horizontalAdvance("…/eyes_pics") + 40)
    folder_line.clearFocus()
    cut = folder_line.grab().toImage()
    folder_line.setText("…/eyes_pics")
    assert folder_line.grab().toImage() == cut
    folder_line.setText("…/other_pics")
    assert folder_line.grab().toImage() != cut
