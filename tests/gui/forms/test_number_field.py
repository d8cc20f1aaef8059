"""What is typed into the field of a number is taken or refused, never changed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QLineEdit

from workbench.core.params import FloatParam, IntParam, SizeParam
from workbench.gui.forms.param_form import ParamForm

PARAMS = (
    IntParam("filters", 32, "How many.", maximum=9_999),
    IntParam("epochs", 10, "How long.", maximum=100_000, unit="epochs"),
    FloatParam("rate", 0.001, "Step size.", maximum=100.0, is_minimum_excluded=True),
    SizeParam("kernel", (3, 3), "Its size."),
    IntParam("steps", None, "Or all.", is_optional=True),
)


@pytest.fixture
def form(qtbot):
    form = ParamForm(PARAMS, {})
    qtbot.addWidget(form)
    form.setFocusProxy(None)  # no field has the focus at first
    with qtbot.waitActive(form):
        form.show()
        form.activateWindow()
    return form


@pytest.fixture
def emitted(form):
    values = []
    form.value_changed.connect(lambda key, value: values.append((key, value)))
    return values


def line_of(form, key):
    widget = form.editor_widget(key)
    return widget if isinstance(widget, QLineEdit) else widget.lineEdit()


def enter(qtbot, form, key, text):
    widget = form.editor_widget(key)
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(widget, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(widget, Qt.Key.Key_Backspace)
    qtbot.keyClicks(widget, text)
    qtbot.keyClick(widget, Qt.Key.Key_Return)


def refused(text, words):
    return f"“{text}” was not accepted. {words}" if text else words


@pytest.mark.parametrize("text", ["3.5", "1e3", "-5", "99999999999", "100000", "0", "", "x", "1/0"])
def test_a_whole_number_field_refuses_and_shows_the_value_that_holds(qtbot, form, emitted, text):
    enter(qtbot, form, "filters", text)
    widget = form.editor_widget("filters")
    assert widget.text() == "32"
    assert widget.property("bad")
    expected = refused(text, "Enter a whole number from 1 to 9,999.")
    assert form._errors["filters"].text() == expected
    assert form._errors["filters"].isVisible()
    assert emitted == []
    enter(qtbot, form, "filters", "64")
    assert not widget.property("bad")
    assert not form._errors["filters"].isVisible()
    assert emitted == [("filters", 64)]


@pytest.mark.parametrize("text", ["100000", "0", "-1", "", "1e999", "0,0"])
def test_a_rate_out_of_bounds_is_refused_not_made_the_nearest(qtbot, form, emitted, text):
    enter(qtbot, form, "rate", text)
    assert form.editor_widget("rate").property("bad")
    assert form._errors["rate"].text() == refused(text, "Enter a number above 0 to 100.")
    assert emitted == []


@pytest.mark.parametrize(
    ("key", "text", "result"),
    [
        ("filters", "64*2", (128, "128")),
        ("filters", "(128-32)/2", (48, "48")),
        ("epochs", "10,000", (10_000, "10,000 epochs")),
        ("epochs", "25 epochs", (25, "25 epochs")),
        ("rate", "1e-3*2", (0.002, "0.002")),
        ("rate", "1/255", (1 / 255, "0.0039215686")),
        ("steps", "7", (7, "7")),
    ],
)
def test_arithmetic_is_computed_when_it_is_entered(qtbot, form, key, text, result):
    value, shown = result
    with qtbot.waitSignal(form.value_changed) as emitted:
        enter(qtbot, form, key, text)
    assert emitted.args == [key, value]
    assert form.editor_widget(key).text() == shown


def test_a_float_that_is_shown_shortened_is_not_changed_by_passing_through(qtbot, form, emitted):
    form.set_values({"rate": 1 / 255})
    form.editor_widget("rate").setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(form.editor_widget("rate"), Qt.Key.Key_Return)
    form.editor_widget("kernel").setFocus(Qt.FocusReason.TabFocusReason)
    assert emitted == []


@pytest.mark.parametrize("key", ["filters", "epochs", "rate", "kernel", "steps"])
def test_the_focus_by_tab_and_by_program_selects_and_a_click_places_the_cursor(qtbot, form, key):
    line, widget = line_of(form, key), form.editor_widget(key)
    number = line.text().removesuffix(" epochs")
    for reason in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.OtherFocusReason):
        form.setFocus()
        line.deselect()
        widget.clearFocus()
        widget.setFocus(reason)
        assert line.selectedText() == number, reason
    widget.clearFocus()
    line.deselect()
    qtbot.mouseClick(line, Qt.MouseButton.LeftButton, pos=QPoint(8, line.height() // 2))
    assert widget.hasFocus()
    assert line.selectedText() == ""
    qtbot.mouseDClick(line, Qt.MouseButton.LeftButton, pos=QPoint(8, line.height() // 2))
    assert number.startswith(line.selectedText())
    assert line.selectedText()


@pytest.mark.parametrize("text", ["1,234", "0.125"])
def test_a_double_click_selects_the_whole_number(qtbot, form, text):
    key = "filters" if "," in text else "rate"
    form.set_values({key: float(text.replace(",", ""))})
    line = line_of(form, key)
    qtbot.mouseDClick(line, Qt.MouseButton.LeftButton, pos=QPoint(8, line.height() // 2))
    assert line.selectedText() == text


def test_what_is_typed_after_enter_replaces_what_was_entered(qtbot, form, emitted):
    for key in ("filters", "kernel"):
        enter(qtbot, form, key, "5")
        qtbot.keyClicks(form.editor_widget(key), "7")
        qtbot.keyClick(form.editor_widget(key), Qt.Key.Key_Return)
    kernels = [("kernel", (5, 5)), ("kernel", (7, 7))]
    assert emitted == [("filters", 5), ("filters", 7), *kernels]


@pytest.mark.parametrize(("key", "text"), [("filters", "3.5"), ("kernel", "a"), ("filters", "12")])
def test_escape_takes_back_what_was_typed(qtbot, form, emitted, key, text):
    widget = form.editor_widget(key)
    before = widget.text()
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClicks(widget, text)
    if text != "12":
        qtbot.keyClick(widget, Qt.Key.Key_Return)
        assert widget.property("bad")
    qtbot.keyClick(widget, Qt.Key.Key_Escape)
    assert widget.text() == before
    assert not widget.property("bad")
    widget.clearFocus()
    assert emitted == []


def test_keys_step_within_the_bounds_and_from_what_is_typed(qtbot, form, emitted):
    box = form.editor_widget("filters")
    box.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(box, Qt.Key.Key_Up)
    qtbot.keyClick(box, Qt.Key.Key_PageUp)
    qtbot.keyClicks(box, "100")
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert [value for _, value in emitted] == [33, 43, 99]
    form.set_values({"filters": 1})
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert box.value() == 1
    rate = form.editor_widget("rate")
    rate.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(rate, Qt.Key.Key_Up)
    assert rate.value() == 0.011  # not 0.010999999999999999
    qtbot.keyClick(rate, Qt.Key.Key_PageDown)
    assert rate.value() == 0.011  # zero itself is not allowed


@pytest.mark.parametrize(
    ("text", "value"), [("1,024 × 3", (1024, 3)), ("3,5", (3, 5)), ("1,024", (1024, 1024))]
)
def test_a_size_reads_thousands_and_axes(qtbot, form, emitted, text, value):
    enter(qtbot, form, "kernel", text)
    assert emitted == [("kernel", value)]


def test_a_comma_that_may_mean_both_is_refused_with_the_reason(qtbot, form, emitted):
    enter(qtbot, form, "kernel", "64,100")
    assert emitted == []
    assert form._errors["kernel"].text().replace("\N{NO-BREAK SPACE}", " ") == (
        "“64,100” may be 64 × 100 or 64100. Enter 64 × 100, or 64100 without a comma."
    )


def send_click(line, kind, at_ms):
    """Sends a press or a double click, with the time of the event, and its release."""
    place = QPointF(10, line.height() / 2)
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    for each, buttons in ((kind, left), (QEvent.Type.MouseButtonRelease, none)):
        event = QMouseEvent(
            each, place, line.mapToGlobal(place), left, buttons, Qt.KeyboardModifier.NoModifier
        )
        event.setTimestamp(at_ms)
        QApplication.sendEvent(line, event)


@pytest.mark.parametrize(("pause_ms", "selected"), [(60, "5,000"), (5_000, "")])
def test_a_triple_click_selects_the_number_as_a_double_click_does(
    qtbot, form, emitted, pause_ms, selected
):
    enter(qtbot, form, "epochs", "5000")
    line = line_of(form, "epochs")
    line.deselect()
    send_click(line, QEvent.Type.MouseButtonPress, 1_000)
    send_click(line, QEvent.Type.MouseButtonDblClick, 1_060)
    assert line.selectedText() == "5,000"
    send_click(line, QEvent.Type.MouseButtonPress, 1_060 + pause_ms)
    assert line.selectedText() == selected
    if selected:
        qtbot.keyClicks(line, "2")
        qtbot.keyClick(line, Qt.Key.Key_Return)
        assert emitted[-1] == ("epochs", 2)
