"""What is in sight in a plot: chosen lines, marks beside the values, outliers, empty axes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QWheelEvent

from tests.gui.train.test_plot_overlays import batch, epoch, started, trained
from workbench.gui.kit.theme import LIGHT, Theme
from workbench.gui.plots.header import HEIGHT_PX, only
from workbench.gui.plots.scaling import robust_span
from workbench.gui.train.plots.legend import Overlay, overlay_color
from workbench.gui.train.plots.run_plots import MAIN, SLIDER_STEPS, RunPlots
from workbench.protocol.events import DataReady, EpochFinished, RunFinished, RunStarted
from workbench.runs.log.history import MetricHistory

LEFT = Qt.MouseButton.LeftButton
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def pair(qtbot, qapp):
    pair = RunPlots(Theme("light"))
    pair.resize(1100, 520)
    qtbot.addWidget(pair)
    with qtbot.waitExposed(pair):
        pair.show()
    return pair


@pytest.fixture
def loss(pair):
    return pair.by_key["loss"]


def shown(plot):
    """Which of train and validation are drawn."""
    return plot.main.raw.item.isVisible(), plot.main.epoch_validation.item.isVisible()


def data(steps_per_epoch):
    return DataReady(
        class_names=["a"], num_train=1, num_validation=1, num_test=1,
        steps_per_epoch=steps_per_epoch,
    )  # fmt: skip


def spiky(values):
    """One epoch of these losses."""
    history = MetricHistory()
    history.add(started())
    history.add(data(len(values)))
    history.add(batch(1, list(values), seconds=10))
    history.add(epoch(1, len(values), 1.0))
    return history


def falling(num_steps):
    """A loss that falls from 2.3 to 1, with noise."""
    noise = np.random.default_rng(3).normal(0.0, 0.05, num_steps)
    return 1.0 + 1.3 * np.exp(-np.arange(num_steps) / 40) + noise


# the legend ------------------------------------------------------------------------------


def test_a_click_on_a_name_hides_its_curve_in_this_plot_and_a_second_shows_it(qtbot, pair, loss):
    pair.set_history(trained())
    pair.redraw()
    assert shown(loss) == (True, True)
    qtbot.mouseClick(loss.header.keys["train"], LEFT)
    pair.redraw()
    assert shown(loss) == (False, True)
    assert shown(pair.by_key["accuracy"]) == (True, True)
    assert loss.axes.y_range()[1] < 0.5  # only the validation is left, which fills the axis
    assert not loss.header.keys["train"].isChecked()
    qtbot.mouseClick(loss.header.keys["train"], LEFT)
    pair.redraw()
    assert shown(loss) == (True, True)


def test_a_hidden_curve_stays_hidden_for_the_next_run(qtbot, pair, loss):
    pair.set_history(trained())
    qtbot.mouseClick(loss.header.keys["validation"], LEFT)
    pair.set_history(trained(height=2.0))
    pair.redraw()
    assert shown(loss) == (True, False)


@pytest.mark.parametrize("how", ["double", "ctrl"])
def test_one_curve_alone_and_all_again(qtbot, pair, loss, how):
    pair.set_history(trained())
    key = loss.header.keys["validation"]

    def ask():
        if how == "ctrl":
            qtbot.mouseClick(key, LEFT, CTRL)
            return
        qtbot.mouseClick(key, LEFT)
        qtbot.mouseDClick(key, LEFT)
        qtbot.mouseRelease(key, LEFT)

    ask()
    pair.redraw()
    assert shown(loss) == (False, True)
    ask()
    pair.redraw()
    assert shown(loss) == (True, True)


def test_one_run_alone_and_all_again(qtbot, pair, loss):
    runs = [trained(height=float(height)) for height in (1, 2, 3)]
    pair.set_history(runs[0], "main")
    overlays = [Overlay(f"run {i}", overlay_color(i), run) for i, run in enumerate(runs[1:])]
    pair.set_overlays(overlays)
    qtbot.mouseClick(pair.legend.buttons[id(runs[2])], LEFT, CTRL)
    pair.redraw()
    assert [run.is_shown for run in (loss.main, *loss.overlays.values())] == [False, False, True]
    assert not pair.legend.buttons[MAIN].isChecked()
    qtbot.mouseClick(pair.legend.buttons[id(runs[2])], LEFT, CTRL)
    assert all(run.is_shown for run in (loss.main, *loss.overlays.values()))


def test_the_only_one_becomes_all_and_any_other_the_only_one():
    assert only("a", "abc", set()) == {"b", "c"}
    assert only("a", "abc", {"a", "b"}) == {"b", "c"}
    assert only("a", "abc", {"b", "c"}) == set()
    assert only("a", "a", set()) == set()


def test_what_is_hidden_is_not_read_either(qtbot, pair, loss):
    pair.set_history(trained())
    pair.redraw()
    qtbot.mouseClick(loss.header.keys["train"], LEFT)
    pair.redraw()
    loss.axes.hovered.emit(1.0)
    assert loss.card.train.isHidden()
    assert not loss.card.validation.isHidden()


# the crosshair ---------------------------------------------------------------------------


def test_just_behind_an_epoch_its_validation_is_read_and_not_the_next_ones(pair, loss):
    pair.set_history(trained(epochs=5, steps_per_epoch=100))
    pair.redraw()
    loss.axes.hovered.emit(4.07)
    assert loss.card.heading.text() == "epoch 4.07, step 407"
    assert loss.card._validation.name.text() == "validation, epoch 4"
    assert loss.card.validation.text() == "0.1025"  # 1 / 396 + 0.1, logged at its last event
    loss.axes.hovered.emit(4.6)
    assert loss.card._validation.name.text() == "validation, epoch 5"


def test_the_average_is_read_beside_the_batch(pair, loss):
    pair.set_history(trained(epochs=2, steps_per_epoch=50))
    pair.smoothing.slider.setValue(SLIDER_STEPS // 2)
    pair.redraw()
    loss.axes.hovered.emit(1.0)
    assert loss.card.train.text() == "0.0200"
    assert loss.card.smoothed.text() == f"{loss.main.smooth.y[49]:.4f}"
    assert loss.card.smoothed.text() != loss.card.train.text()
    pair.smoothing.slider.setValue(0)
    pair.redraw()
    loss.axes.hovered.emit(1.0)
    assert loss.card.smoothed.isHidden()


def test_a_run_that_ended_before_has_no_values_there(pair, loss):
    main, short = trained(epochs=40), trained(epochs=5, height=3.0)
    pair.set_history(main, "main")
    pair.set_overlays([Overlay("short", "#16a34a", short)])
    pair.redraw()
    loss.axes.hovered.emit(28.0)
    rows = [(row.name.text(), row.train.text(), row.validation.text()) for row in loss.card.rows]
    assert rows[0][1:] == (f"{1 / 280:.4f}", f"{1 / 276 + 0.1:.4f}")
    assert rows[1] == ("short", "last: epoch 5", "")
    loss.axes.hovered.emit(4.0)
    assert loss.card.rows[1].train.text() == f"{3 / 40:.4f}"


# marks -----------------------------------------------------------------------------------


def test_marks_hide_no_value_on_screen_or_in_a_file(qtbot, pair, tmp_path):
    history = MetricHistory()
    history.add(started())
    history.add(data(10))
    for number in range(1, 31):  # the best is among many neighbors
        history.add(batch(number * 10 - 9, [0.5] * 10, seconds=number))
        history.add(
            EpochFinished(
                epoch=number, step=number * 10, loss=0.5, accuracy=0.5, val_loss=0.5 + number / 100,
                val_accuracy=0.9 + (number == 15) / 1e4, seconds=1.0, images_per_second=1.0,
            )
        )  # fmt: skip
    pair.set_history(history)
    pair.redraw()
    plot = pair.by_key["accuracy"]
    inner = plot.axes.box.sceneBoundingRect()
    (place, words), _note = plot.axes.strip.places()
    assert words == "best val. accuracy: epoch 15"
    assert not inner.intersects(plot.axes.strip.mapRectToScene(place))
    with qtbot.waitSignal(pair.said):
        pair.export(plot, tmp_path / "accuracy.png")
    image = QImage(str(tmp_path / "accuracy.png"))
    for x, y in zip(range(1, 31), plot.series.epoch_validation, strict=True):
        at = 2 * plot.axes.mapTo(plot, plot.axes.pixel_of(QPointF(x, y)))
        assert image.pixelColor(at) == QColor(LIGHT.validation)


def test_a_ring_is_only_on_a_value_that_is_the_best_of_its_curve(pair):
    history = trained(epochs=4)  # the accuracy of all epochs is the same, the loss falls
    pair.set_history(history)
    pair.redraw()
    assert pair.by_key["accuracy"].axes._ring.isVisible()
    axes = pair.by_key["loss"].axes
    assert not axes._ring.isVisible()
    assert axes._tick.isVisible()
    assert axes._tick.value() == history.best.epoch
    assert axes.strip.words == f"best val. accuracy: epoch {history.best.epoch}"


def test_a_mark_beside_a_note_says_what_it_marks(pair):
    pair.set_history(trained(epochs=4))
    pair.redraw()
    strip = pair.by_key["loss"].axes.strip
    strip.set_note("First values up to 316 are above the chart. " * 3)
    (_place, words), _note = strip.places()
    assert words.startswith("best: epoch ")


def test_a_note_has_the_color_of_a_fact_not_of_a_warning(pair, loss):
    """Values that are above the chart are nothing to mend."""
    pair.set_history(overfitting(5, 60))
    pair.redraw()
    strip = loss.axes.strip
    assert strip.note.endswith("above the chart")
    picture = QImage(strip.rect().size().toSize(), QImage.Format.Format_RGB32)
    picture.fill(QColor("white"))
    painter = QPainter(picture)
    strip.paint(painter)
    painter.end()
    points = product(range(picture.width()), range(picture.height()))
    colors = [picture.pixelColor(*point) for point in points]
    assert any(color.lightness() < 160 for color in colors)
    assert all(color.saturation() < 120 for color in colors if color.lightness() < 160)


# the value axis --------------------------------------------------------------------------


def test_a_spike_is_left_out_and_counted_until_it_is_wanted(pair, loss):
    values = falling(600)
    values[300:302] = 214.0, 90.0
    pair.set_history(spiky(values))
    pair.redraw()
    assert loss.axes.y_range()[1] < 5.0
    assert loss.axes.strip.note == "2 outliers not shown"
    loss.header.ignore_outliers.trigger()
    pair.redraw()
    assert loss.axes.y_range()[1] > 214.0
    assert loss.axes.strip.note == ""


def test_a_start_that_jumps_up_first_is_left_out_too():
    """A rate that is a little too high: 2.3, then 55, then down within half an epoch of five."""
    jump = np.concatenate([[2.3, 2.4, 8.0, 30.0, 55.0], 55.0 * np.exp(-np.arange(25) / 5)])
    values = np.concatenate([jump, 0.3 + 0.5 * np.exp(-np.arange(270) / 50)])
    low, high = robust_span([values])
    assert low == values.min()
    assert high < 5.0


def test_a_first_value_far_above_the_rest_is_left_out():
    values = falling(300)
    values[0] = 500.0
    assert robust_span([values])[1] < 5.0


def overfitting(epochs, steps_per_epoch):
    """A run of photos that are not rescaled: 2.3, then 40, then down to 0.2 within an epoch or two;
    its validation loss falls to 0.3 and then rises.
    """
    history = MetricHistory()
    history.add(started())
    history.add(data(steps_per_epoch))
    rng = np.random.default_rng(5)
    steps = np.arange(epochs * steps_per_epoch)
    fall = 40.0 * np.exp(-steps / (0.1 * min(steps_per_epoch, 200)))
    rise = np.minimum(1.0, (steps + 1) / 6)
    values = 2.3 * (1 - rise) + rise * fall + 0.2 + 0.4 * np.exp(-steps / steps_per_epoch)
    values = values * rng.uniform(0.8, 1.25, len(steps))
    for number in range(epochs):
        part = values[number * steps_per_epoch : (number + 1) * steps_per_epoch]
        last = (number + 1) * steps_per_epoch
        history.add(batch(last - len(part) + 1, list(part), seconds=number + 1))
        history.add(epoch(number + 1, last, 0.2 + abs(number - 4) / 100))
    return history


@pytest.mark.parametrize(
    ("epochs", "steps_per_epoch"), [(2, 60), (5, 60), (18, 60), (52, 60), (2, 843), (14, 843)]
)
def test_the_first_steps_do_not_flatten_a_run_however_long_it_is(
    qtbot, pair, loss, epochs, steps_per_epoch
):
    history = overfitting(epochs, steps_per_epoch)
    pair.set_history(history)
    pair.redraw()
    low, high = loss.axes.y_range()
    assert high < 3.0
    later = history.losses[len(history.losses) // 2 :]
    assert low < later.min()
    assert high > max(later.max(), *loss.series.epoch_validation)
    highest = float(f"{history.losses.max():.3g}")
    assert loss.axes.strip.note == f"First values up to {highest:g} are above the chart"
    image = loss.axes.grab().toImage()
    seen = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(HEIGHT_PX)}
    assert LIGHT.warning not in seen, "it is no warning"
    loss.header.ignore_outliers.trigger()
    pair.redraw()
    assert loss.axes.y_range()[1] > highest
    assert loss.axes.strip.note == ""


def test_the_start_is_left_out_for_all_runs_of_a_plot_at_once(pair, loss):
    long, short = overfitting(18, 60), overfitting(2, 843)
    pair.set_history(long)
    pair.set_overlays([Overlay("short", "#16a34a", short)])
    pair.redraw()
    assert loss.axes.y_range()[1] < 3.0


def test_a_run_without_outliers_is_shown_whole(pair, loss):
    values = falling(600)
    pair.set_history(spiky(values))
    pair.redraw()
    low, high = loss.axes.y_range()
    assert low < values.min()
    assert high > values.max()
    assert loss.axes.strip.note == ""


@pytest.mark.parametrize(
    "values",
    [
        0.3 + 1.5 * np.exp(-np.arange(300) / 40),  # its start is a few times its end, no more
        np.full(50, 0.001),
        np.array([5.0, 1.0, 300.0]),  # too few to tell
        np.geomspace(2.0, 4e10, 500),  # diverged: most of it is high
        np.full(30, np.nan),
    ],
)
def test_what_belongs_to_a_curve_is_no_outlier(values):
    finite = values[np.isfinite(values)]
    wanted = (finite.min(), finite.max()) if len(finite) else None
    assert robust_span([values]) == wanted


def test_a_logarithmic_axis_and_an_accuracy_show_everything(pair, loss):
    values = falling(600)
    values[300] = 1e6
    pair.set_history(spiky(values))
    loss.header.log.setChecked(True)
    pair.redraw()
    assert loss.axes.y_range()[1] > 6.0
    assert loss.axes.strip.note == ""
    assert not pair.by_key["accuracy"].header.ignore_outliers.isVisible()


def turn_wheel(axes, modifiers=CTRL):
    middle = QPointF(axes.mapFromScene(axes.box.sceneBoundingRect().center()))
    view = axes.viewport()
    event = QWheelEvent(
        middle, QPointF(view.mapToGlobal(middle.toPoint())), QPoint(), QPoint(0, 480),
        Qt.MouseButton.NoButton, modifiers, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QCoreApplication.sendEvent(view, event)


def test_the_values_fill_the_axis_also_where_only_a_part_of_the_run_is_seen(pair, loss):
    pair.set_history(trained(epochs=10, steps_per_epoch=100))
    pair.redraw()
    for _ in range(6):
        turn_wheel(pair.by_key["accuracy"].axes)
    pair.redraw()
    low, high = loss.axes.x_range()
    assert high - low < 5
    seen = [value for step, value in enumerate(loss.series.values, 1) if low <= step / 100 <= high]
    top = max(*seen, *loss.series.epoch_validation[int(low) : int(high) + 1])
    assert loss.axes.y_range()[1] == pytest.approx(top, rel=0.15)


def test_values_chosen_by_the_user_stay_until_all_are_wanted(pair, loss):
    pair.set_history(trained(epochs=10, steps_per_epoch=100))
    pair.redraw()
    before = loss.axes.y_range()
    turn_wheel(loss.axes, CTRL | Qt.KeyboardModifier.ShiftModifier)
    chosen = loss.axes.y_range()
    turn_wheel(loss.axes)
    pair.redraw()
    assert loss.axes.y_range() == chosen != before
    loss.axes.box.all_wanted.emit()
    pair.redraw()
    assert loss.axes.y_range() == before


def tick_words(axis, span):
    levels = axis.tickValues(*span, axis.height())
    return [word for gap, at in levels for word in axis.tickStrings(at, 1.0, gap)]


@pytest.mark.parametrize("rate", [0.001, 3.2, 1e-6])
def test_a_constant_rate_has_numbers_beside_it(pair, rate):
    history = MetricHistory()
    history.add(started())
    history.add(batch(1, [0.5] * 10, seconds=1, rate=rate))
    history.add(batch(11, [0.5] * 10, seconds=2, rate=rate))
    pair.choices.below["learning_rate"].setChecked(True)
    pair.set_history(history)
    pair.redraw()
    axes = pair.by_key["learning_rate"].axes
    low, high = axes.y_range()
    assert low < rate < high
    words = tick_words(axes.getAxis("left"), (low, high))
    assert len(set(words)) == len(words) >= 2


def test_every_axis_has_a_name(pair):
    pair.choices.below["learning_rate"].setChecked(True)
    pair.set_history(trained())
    pair.redraw()
    names = {
        key: [plot.axes.getAxis(side).label.toPlainText() for side in ("left", "bottom")]
        for key, plot in pair.by_key.items()
    }
    assert [words for words in names.values() if "" in [word.strip() for word in words]] == []
    assert {words[1].strip() for words in names.values()} == {"Epoch"}


def test_empty_plots_say_when_values_come_on_axes_without_numbers(pair, loss):
    pair.set_history(trained(epochs=40))
    pair.redraw()
    history = MetricHistory()
    pair.set_history(history)
    pair.redraw()
    assert loss.axes._empty.isVisible()
    assert loss.axes._empty.text() == "First values after the first step"
    assert not loss.axes.getAxis("left").style["showValues"]
    assert not loss.axes._ring.isVisible()
    assert loss.axes.strip.words == ""
    history.add(started())
    history.add(batch(1, [0.5] * 5, seconds=1))
    pair.redraw()
    assert not loss.axes._empty.isVisible()
    assert loss.axes.getAxis("left").style["showValues"]


def test_a_run_that_ended_before_its_first_step_has_no_values_to_wait_for(pair, loss):
    history = MetricHistory()
    history.add(RunFinished(outcome="failed", run="r", seconds=1.0, epochs_done=0))
    pair.set_history(history)
    pair.redraw()
    assert loss.axes._empty.text() == "This run has no values: it ended before its first step."


def test_a_line_names_where_fine_tuning_starts(pair, loss):
    history = MetricHistory()
    values = {key: getattr(started(), key) for key in started().__struct_fields__}
    history.add(RunStarted(**{**values, "fine_tuning_after": 2}))
    history.add(data(10))
    history.add(batch(1, [1.0] * 30, seconds=10))
    pair.set_history(history)
    pair.redraw()
    mark = loss.axes._phase
    assert mark.isVisible()
    assert mark.value() == loss.main.scale.place(20.0)
    assert mark.words == "Fine-tuning"
    pair.set_history(trained())
    pair.redraw()
    assert not mark.isVisible()


@pytest.mark.parametrize("count", [10, 400])  # drawn one by one, and in groups
def test_lines_are_interrupted_where_epochs_of_the_head_were_left_out(pair, loss, count):
    history = MetricHistory()
    values = {key: getattr(started(), key) for key in started().__struct_fields__}
    history.add(RunStarted(**{**values, "fine_tuning_after": 5}))
    history.add(data(count))
    for number in (1, 2, 6, 7):
        first = (number - 1) * count + 1
        history.add(batch(first, [1.0] * count, seconds=number))
        history.add(epoch(number, number * count, 1.0))
    pair.set_history(history)
    pair.redraw()
    for curve in (loss.main.raw, loss.main.epoch_validation):
        x, y = curve.item.getData()
        (gap,) = np.flatnonzero(np.isnan(y))
        assert x[gap - 1] <= loss.main.scale.place(2.0 * count)
        assert x[gap + 1] > loss.main.scale.place(5.0 * count)
    pair.set_history(trained())
    pair.redraw()
    assert not np.isnan(loss.main.raw.item.getData()[1]).any()
