"""The live plots: what they draw, read out, and write to files."""

from __future__ import annotations

import csv
import io
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PySide6.QtCore import QCoreApplication, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QWheelEvent
from PySide6.QtSvg import QSvgRenderer

from workbench.core.format import number_text
from workbench.curves.loss import SPEC as LOSS
from workbench.errors import SaveError
from workbench.gui.common.figure_saver import figure_file
from workbench.gui.kit.theme import DARK, LIGHT, Theme
from workbench.gui.plots.scaling import PeakPyramid, XScale
from workbench.gui.plots.smoothing import BiasCorrectedAverage
from workbench.gui.train.plots import live_plot, run_plots
from workbench.gui.train.plots.plot_table import RunTable, csv_text
from workbench.gui.train.plots.run_plots import RunPlots, epochs_of, position_of, smoothing_words
from workbench.protocol.events import Batch, DataReady, EpochFinished
from workbench.runs.log.curve_columns import Series, read_at
from workbench.runs.log.history import MetricHistory

FLOATS = st.floats(-1e6, 1e6) | st.just(np.nan)
# A machine shared with others may be slow at any moment: nothing here is about time.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
UNTIMED = settings.get_profile("untimed")
SERIES = arrays(np.float64, st.integers(0, 1500), elements=FLOATS, fill=st.floats(-5, 5))


# smoothing -------------------------------------------------------------------------------


def plain_average(values, weight):
    """The same by the definition, one value at a time."""
    total = share = 0.0
    result = []
    for value in values:
        is_finite = np.isfinite(value)
        total = weight * total + (1 - weight) * (value if is_finite else 0.0)
        share = weight * share + (1 - weight) * is_finite
        if weight == 0:
            result.append(value if is_finite else np.nan)
        else:
            result.append(total / share if share > 0 else np.nan)
    return np.array(result)


@UNTIMED
@given(SERIES, st.sampled_from([0.0, 0.05, 0.5, 0.9, 0.99, 0.999]), st.integers(0, 1500))
def test_smoothing_is_what_its_definition_says_in_pieces_too(values, weight, cut):
    average = BiasCorrectedAverage(weight)
    got = np.concatenate([average.extend(values[:cut]), average.extend(values[cut:])])
    wanted = plain_average(values, weight)
    assert np.array_equal(np.isnan(got), np.isnan(wanted))
    np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-4)


def test_the_first_smoothed_value_is_not_pulled_to_zero():
    assert BiasCorrectedAverage(0.99).extend(np.array([5.0]))[0] == pytest.approx(5.0)


@UNTIMED
@given(st.integers(0, 60))
def test_the_slider_reads_back_its_position(position):
    assert position_of(epochs_of(position)) == position


def test_the_slider_says_what_it_averages_over():
    words = [smoothing_words(epochs) for epochs in (0.0, 0.05, 0.999, 2.512, 10.0)]
    assert words == ["off", "5% of an epoch", "1 epoch", "2.5 epochs", "10 epochs"]


# drawing few points of many --------------------------------------------------------------


@UNTIMED
@given(SERIES, st.lists(st.integers(0, 3000), max_size=4), st.integers(1, 400), st.data())
def test_what_is_drawn_keeps_every_peak_and_stays_small(values, cuts, columns, data):
    pyramid = PeakPyramid()
    for cut in [*sorted(cut for cut in cuts if cut < len(values)), len(values)]:
        pyramid.extend(values[:cut])
    start = data.draw(st.integers(0, len(values)))
    stop = data.draw(st.integers(start, len(values)))
    positions, drawn = pyramid.window(values, start, stop, columns)
    assert len(positions) == len(drawn) <= 2 * columns + 4
    assert np.all(np.diff(positions) >= 0)
    inside = values[start:stop]
    if np.isfinite(inside).any():
        assert np.nanmin(drawn) <= np.nanmin(inside)
        assert np.nanmax(drawn) >= np.nanmax(inside)
    everything = values[np.isfinite(values)]
    assert np.isin(drawn[np.isfinite(drawn)], everything).all()


def test_a_single_peak_in_a_million_is_drawn():
    values = np.zeros(1_000_000)
    values[654_321] = 7.0
    pyramid = PeakPyramid()
    pyramid.extend(values)
    _, drawn = pyramid.window(values, 0, len(values), 500)
    assert drawn.max() == 7.0


# exact values ----------------------------------------------------------------------------


SMALL = Series(
    steps=np.arange(1, 8),
    values=np.array([7.0, 6.0, 5.0, np.nan, 3.0, 2.0, 1.0]),
    epochs=np.array([1.0, 2.0]),
    epoch_steps=np.array([3.0, 6.0]),
    epoch_train=np.array([6.0, 3.3]),
    epoch_validation=np.array([6.5, 3.5]),
    best_epoch=2,
    steps_per_epoch=3,
)


@pytest.mark.parametrize(
    ("x", "epoch", "step", "train", "validation"),
    [
        (-50.0, 1, 1, 7.0, 6.5),
        (1.4, 1, 1, 7.0, 6.5),
        (2.9, 1, 3, 5.0, 6.5),
        (4.2, 2, 4, None, 6.5),
        (4.8, 2, 5, 3.0, 3.5),
        (6.0, 2, 6, 2.0, 3.5),
        (99.0, 3, 7, 1.0, 3.5),
    ],
)
def test_a_reading_is_that_of_the_nearest_step_and_of_the_nearest_end_of_an_epoch(
    x, epoch, step, train, validation
):
    reading = read_at(SMALL, x)
    assert (reading.epoch, reading.step) == (epoch, step)
    assert (reading.train, reading.validation) == (train, validation)


def test_a_reading_by_epoch_is_the_mean_of_the_epoch():
    reading = read_at(SMALL, 5.9, by_epoch=True)
    assert (reading.epoch, reading.step, reading.train, reading.validation) == (2, 6, 3.3, 3.5)


def test_nothing_can_be_read_from_nothing():
    assert read_at(Series(), 3.0) is None
    assert read_at(Series(), 3.0, by_epoch=True) is None


def test_numbers_are_written_as_people_read_them():
    assert number_text(None) == "–"
    assert number_text(0.50214) == "0.5021"
    assert number_text(0.00001234) == "1.234e-05"


# files -----------------------------------------------------------------------------------


@UNTIMED
@given(arrays(np.float64, st.integers(0, 60), elements=st.floats(allow_nan=True)))
def test_csv_reads_back_the_same_values(values):
    series = Series(steps=np.arange(1, len(values) + 1), values=values)
    rows = list(csv.DictReader(io.StringIO(csv_text(LOSS, [RunTable("a", series, XScale())]))))
    back = [float(row["train_loss"]) if row["train_loss"] else np.nan for row in rows]
    wanted = np.where(np.isfinite(values), values, np.nan)
    np.testing.assert_array_equal(back, wanted)
    assert [int(row["step"]) for row in rows] == list(range(1, len(values) + 1))


def test_csv_has_the_epochs_at_their_last_steps():
    rows = list(csv.DictReader(io.StringIO(csv_text(LOSS, [RunTable("a", SMALL, XScale())]))))
    assert [row["validation_loss"] for row in rows] == ["", "", "6.5", "", "", "3.5", ""]
    assert [row["train_loss_mean"] for row in rows] == ["", "", "6.0", "", "", "3.3", ""]
    assert [row["epoch"] for row in rows] == ["1", "1", "1", "2", "2", "2", "3"]


# the widgets -----------------------------------------------------------------------------


def history_of(num_steps, steps_per_epoch=10):
    history = MetricHistory()
    history.add(
        DataReady(
            class_names=["a"],
            num_train=1,
            num_validation=1,
            num_test=1,
            steps_per_epoch=steps_per_epoch,
        )
    )
    if num_steps:
        extend(history, num_steps)
    for epoch in range(1, num_steps // steps_per_epoch + 1):
        history.add(
            EpochFinished(
                epoch=epoch,
                step=epoch * steps_per_epoch,
                loss=1.0 / epoch,
                accuracy=0.5,
                val_loss=2.0 / epoch,
                val_accuracy=0.9 - abs(epoch - 2) / 100,
                seconds=1.0,
                images_per_second=1.0,
            )
        )
    return history


def inverse(steps):
    """The losses of these steps, in float32 as trainers compute them."""
    return (np.float32(1.0) / np.asarray(steps, np.float32)).tolist()


def extend(history, count):
    first = len(history.steps) + 1
    values = inverse(range(first, first + count))
    history.add(
        Batch(
            epoch=1,
            step=first + count - 1,
            first_step=first,
            loss=values[-1],
            accuracy=values[-1],
            losses=values,
            accuracies=values,
            images_per_second=1.0,
        )
    )


@pytest.fixture
def theme(qapp):
    return Theme("light")


@pytest.fixture
def pair(qtbot, theme):
    pair = RunPlots(theme)
    pair.resize(1100, 420)
    pair.choices.axes["step"].trigger()
    qtbot.addWidget(pair)
    with qtbot.waitExposed(pair):
        pair.show()
    return pair


def test_both_plots_show_the_history_and_keep_all_in_sight(pair):
    pair.set_history(history_of(40))
    pair.redraw()
    low, high = pair.by_key["loss"].axes.x_range()
    assert low <= 1
    assert high >= 40
    x, y = pair.by_key["loss"].main.raw.item.getData()
    assert x.tolist() == list(range(1, 41))
    assert y.tolist() == inverse(range(1, 41))
    bottom, top = pair.by_key["loss"].axes.box.viewRange()[1]
    assert bottom < 1.0 / 40
    assert top > 1.0


@pytest.mark.parametrize(
    ("width", "height", "is_stacked"),
    [(1100, 900, False), (600, 290, True), (710, 290, False), (710, 600, True)],
)
def test_plots_are_side_by_side_where_they_would_be_flat_below_each_other(
    qtbot, pair, width, height, is_stacked
):
    def top(key):
        return pair.by_key[key].geometry().top()

    for size in ((710, 290), (710, 600), (width, height)):  # from either side
        pair.resize(*size)
        qtbot.wait(1)
    qtbot.waitUntil(lambda: (top("accuracy") > top("loss")) == is_stacked)
    assert pair.by_key["loss"].width() >= pair.by_key["loss"].minimumWidth()


def test_a_curve_below_takes_height_from_the_plots(qtbot, pair):
    pair.resize(710, 500)
    loss, accuracy = pair.by_key["loss"], pair.by_key["accuracy"]
    qtbot.waitUntil(lambda: accuracy.geometry().top() > loss.geometry().top())
    next(iter(pair.choices.below.values())).setChecked(True)
    qtbot.waitUntil(lambda: accuracy.geometry().top() == loss.geometry().top())


def test_the_crosshair_reads_exact_values_in_both_plots(pair):
    pair.set_history(history_of(40))
    pair.redraw()
    pair.by_key["loss"].axes.hovered.emit(30.2)
    assert pair.by_key["loss"].card.isVisible()
    assert pair.by_key["loss"].card.heading.text() == "epoch 3, step 30"
    assert pair.by_key["loss"].card.train.text() == number_text(1 / 30)
    assert pair.by_key["loss"].card.validation.text() == number_text(2 / 3)
    assert pair.by_key["accuracy"].card.validation.text() == "89.0%"
    pair.by_key["loss"].axes.hovered.emit(None)
    assert not pair.by_key["accuracy"].card.isVisible()


def test_the_mouse_moves_the_crosshair(qtbot, pair):
    pair.set_history(history_of(40))
    pair.redraw()
    axes = pair.by_key["loss"].axes
    middle = axes.mapFromScene(axes.box.sceneBoundingRect().center())
    with qtbot.waitSignal(axes.hovered) as hovered:
        qtbot.mouseMove(axes.viewport(), QPoint(middle.x() - 9, middle.y()))
        qtbot.mouseMove(axes.viewport(), middle)
    assert 15 < hovered.args[0] < 26


def test_a_user_zoom_stays_while_values_arrive_and_show_all_ends_it(pair):
    history = history_of(40)
    pair.set_history(history)
    pair.redraw()
    pair.by_key["loss"].axes.box.setXRange(10, 20, padding=0)
    pair.by_key["loss"].axes.box.zoomed.emit()
    extend(history, 100)
    pair.redraw()
    assert pair.by_key["loss"].axes.x_range() == pytest.approx((10, 20))
    assert pair.by_key["accuracy"].axes.x_range() == pytest.approx((10, 20), abs=0.5)
    pair.by_key["loss"].axes.box.all_wanted.emit()
    pair.redraw()
    assert pair.by_key["loss"].axes.x_range()[1] >= 140


def turn_wheel(axes, steps, key=Qt.KeyboardModifier.ControlModifier):
    """Turns the wheel over the middle of a plot."""
    middle = QPointF(axes.mapFromScene(axes.box.sceneBoundingRect().center()))
    event = QWheelEvent(
        middle, QPointF(axes.viewport().mapToGlobal(middle.toPoint())), QPoint(),
        QPoint(0, 120 * steps), Qt.MouseButton.NoButton, key, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    event.ignore()
    QCoreApplication.sendEvent(axes.viewport(), event)
    return event.isAccepted()


def test_the_wheel_alone_belongs_to_the_page(pair):
    pair.set_history(history_of(40))
    pair.redraw()
    axes = pair.by_key["loss"].axes
    before = axes.x_range()
    assert not turn_wheel(axes, 2, Qt.KeyboardModifier.NoModifier)
    assert axes.x_range() == before


def test_zooming_out_ends_with_all_values_in_sight(qtbot, pair):
    history = history_of(40)
    pair.set_history(history)
    pair.redraw()
    axes = pair.by_key["loss"].axes
    before = axes.x_range()
    for steps in (4, -3, -30):
        turn_wheel(axes, steps)
    assert axes.x_range() == pytest.approx(before)
    extend(history, 100)
    pair.redraw()
    assert axes.x_range()[1] >= 140
    turn_wheel(axes, 4)
    assert axes.x_range()[1] < 140
    middle = axes.mapFromScene(axes.box.sceneBoundingRect().center())
    qtbot.mouseClick(axes.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    qtbot.mouseDClick(axes.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    qtbot.mouseRelease(axes.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    pair.redraw()
    assert axes.x_range()[1] >= 140


def test_the_wheel_zooms_at_the_pointer(pair):
    history = history_of(40)
    pair.set_history(history)
    pair.redraw()
    axes = pair.by_key["loss"].axes
    before = axes.x_range()
    assert turn_wheel(axes, 2)
    after = axes.x_range()
    assert after[1] - after[0] < before[1] - before[0]
    assert sum(after) == pytest.approx(sum(before), rel=0.05)
    extend(history, 100)
    pair.redraw()
    assert axes.x_range() == after


def test_dragging_a_box_zooms_into_it(qtbot, pair):
    history = history_of(40)
    pair.set_history(history)
    pair.redraw()
    axes = pair.by_key["loss"].axes
    before = axes.x_range()
    place = axes.box.sceneBoundingRect()
    start = axes.mapFromScene(place.center())
    end = QPoint(start.x() + 60, start.y() + 50)
    view = axes.viewport()
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    for part in range(1, 11):
        qtbot.mouseMove(view, start + (end - start) * (part / 10))
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=end)
    after = axes.x_range()
    assert after[1] - after[0] < (before[1] - before[0]) / 2
    extend(history, 100)
    pair.redraw()
    assert axes.x_range() == after


def test_another_run_forgets_the_one_before(pair):
    pair.smoothing.slider.setValue(position_of(1))
    pair.set_history(history_of(40))
    pair.redraw()
    pair.set_history(history_of(7, steps_per_epoch=3))
    pair.redraw()
    x, _ = pair.by_key["loss"].main.raw.item.getData()
    assert x.tolist() == list(range(1, 8))
    assert len(pair.by_key["loss"].main.smooth.y) == 7
    assert pair.by_key["loss"].series.epochs.tolist() == [1, 2]


def test_the_logarithmic_axis_leaves_out_what_has_no_logarithm(pair):
    history = history_of(10)
    history.add(
        Batch(
            epoch=2, step=12, first_step=11, loss=0.0, accuracy=0.0, losses=[0.0, None],
            accuracies=[0.0, None], images_per_second=1.0,
        )
    )  # fmt: skip
    pair.set_history(history)
    pair.by_key["loss"].header.log.setChecked(True)
    pair.redraw()
    _, y = pair.by_key["loss"].main.raw.item.getData()
    np.testing.assert_allclose(y[:10], np.log10(1.0 / np.arange(1, 11)))
    assert np.isnan(y[10:]).all()


@pytest.mark.parametrize(("low", "high"), [(1.55, 1.64), (0.9, 3.2), (0.012, 0.013), (0.6, 8.0)])
def test_a_logarithmic_axis_without_a_decade_still_has_numbers(pair, low, high):
    pair.by_key["loss"].axes.set_log(is_log=True)
    axis = pair.by_key["loss"].axes.plot_item.getAxis("left")
    ticks = [at for _, level in axis.tickValues(np.log10(low), np.log10(high), 400) for at in level]
    words = axis.logTickStrings(ticks, 1.0, 1.0)
    assert 3 <= len(ticks) <= 12
    assert len(set(words)) == len(words)
    np.testing.assert_allclose([float(word) for word in words], 10.0 ** np.array(ticks))
    assert all(low <= float(word) <= high for word in words)


def test_long_numbers_do_not_touch_the_name_of_their_axis(qtbot, pair):
    plot = pair.by_key["loss"]
    history = MetricHistory()
    losses = [2.30255, 2.3026, 2.30265, 2.3026]
    history.add(
        Batch(
            epoch=1,
            step=4,
            first_step=1,
            loss=2.3026,
            accuracy=0.1,
            losses=losses,
            accuracies=[0.1] * 4,
            images_per_second=1.0,
        )
    )
    pair.set_history(history)
    pair.redraw()
    axis = plot.axes._y_axis
    metrics = QFontMetrics(axis.style["tickFont"])

    def gap_px():
        """Between the name, at the left, and the longest number, at the right."""
        low, high = plot.axes.y_range()
        ((spacing, values), *_) = axis.tickValues(low, high, axis.height())
        words = axis.tickStrings(values, 1.0, spacing)
        assert max(map(len, words)) >= len("2.30260")
        name = axis.label.mapRectToParent(axis.label.boundingRect())
        ink = name.width() / 2 + metrics.height() / 2
        right = axis.width() - axis.style["tickTextOffset"][0]
        return right - max(map(metrics.horizontalAdvance, words)) - (name.left() + ink)

    qtbot.waitUntil(lambda: gap_px() >= 1)


def test_by_epoch_shows_means_instead_of_batches(pair):
    pair.set_history(history_of(40))
    pair.by_key["loss"].header.by_epoch.setChecked(True)
    pair.redraw()
    assert not pair.by_key["loss"].main.raw.item.isVisible()
    x, y = pair.by_key["loss"].main.epoch_train.item.getData()
    assert x.tolist() == [10, 20, 30, 40]
    assert y.tolist() == [1.0, 1 / 2, 1 / 3, 1 / 4]


def test_smoothing_again_smooths_all_values(pair):
    pair.set_history(history_of(40))
    pair.redraw()
    pair.smoothing.slider.setValue(position_of(10))
    pair.redraw()
    wanted = BiasCorrectedAverage(1 - 1 / 100).extend(1.0 / np.arange(1.0, 41.0))
    np.testing.assert_allclose(pair.by_key["loss"].main.smooth.y, wanted, rtol=1e-6)


def test_the_best_epoch_is_marked(pair):
    pair.set_history(history_of(40))
    pair.redraw()
    assert pair.by_key["accuracy"].axes.strip.words == "best val. accuracy: epoch 2"
    assert pair.by_key["accuracy"].axes._ring.isVisible()


@pytest.mark.parametrize("accuracies", [(0.2, 0.5, 1.0), (1.0, 0.5, 0.2), (0.1, 0.4, 0.3)])
def test_the_words_at_the_best_epoch_are_never_cut_off(pair, accuracies):
    history = history_of(1)
    for number, accuracy in enumerate(accuracies, 1):
        history.add(
            EpochFinished(
                epoch=number, step=number * 10, loss=1.0, accuracy=accuracy, val_loss=1.0,
                val_accuracy=accuracy, seconds=1.0, images_per_second=1.0,
            )
        )  # fmt: skip
    pair.set_history(history)
    pair.redraw()
    axes = pair.by_key["accuracy"].axes
    (place, words), _note = axes.strip.places()
    assert words.startswith("best val. accuracy: epoch")
    assert axes.strip.rect().contains(place)
    assert axes.sceneRect().contains(axes.strip.mapRectToScene(place))


def test_a_million_batches_are_drawn_from_a_few_points(pair):
    history = MetricHistory()
    for _ in range(100):
        extend(history, 10_000)
    pair.set_history(history)
    pair.redraw()
    x, _ = pair.by_key["loss"].main.raw.item.getData()
    assert 100 < len(x) < 3000
    assert (
        pair.by_key["loss"].main.reading(654_321.0, by_epoch=False).train == inverse([654_321])[0]
    )
    extend(history, 1)
    pair.redraw()
    assert pair.by_key["loss"].series.steps[-1] == 1_000_001


def num_drawn(pair):
    """Batches in the drawn curve of the loss."""
    return len(pair.by_key["loss"].series.values)


TICKS_MS = 4 * run_plots.REDRAW_INTERVAL_MS
"""After these the drawing of an earlier `refresh` is done: timers come in their order."""


@pytest.fixture
def no_time_passes(monkeypatch):
    """Drawings of new values cost nothing that has passed when the next ones come."""
    monkeypatch.setattr(run_plots, "perf_counter", lambda: 0.0)


def test_nothing_is_drawn_while_nothing_can_be_seen(qtbot, pair):
    history = history_of(10)
    pair.set_history(history)
    pair.redraw()
    pair.hide()
    extend(history, 10)
    pair.refresh()
    qtbot.wait(TICKS_MS)
    assert num_drawn(pair) == 10
    pair.show()
    qtbot.waitUntil(lambda: num_drawn(pair) == 20)


@pytest.mark.usefixtures("no_time_passes")
def test_dear_drawings_of_new_values_wait_but_the_user_never_does(qtbot, pair):
    history = history_of(20)
    pair.set_history(history)
    pair.redraw()
    extend(history, 5)
    pair.grow()
    qtbot.wait(TICKS_MS)
    assert num_drawn(pair) == 20
    pair.show_all()
    qtbot.waitUntil(lambda: num_drawn(pair) == 25)


@pytest.mark.usefixtures("no_time_passes")
def test_the_first_values_and_twice_as_many_are_drawn_at_once(qtbot, pair):
    history = history_of(0)
    pair.set_history(history)
    pair.redraw()
    for wanted in (1, 2, 2, 4):
        extend(history, 1)
        pair.grow()
        qtbot.wait(TICKS_MS)
        assert num_drawn(pair) == wanted


def test_the_curves_follow_the_theme(pair, theme):
    pair.set_history(history_of(10))
    theme.set_mode("dark")
    pair.redraw()
    assert pair.by_key["loss"].axes.backgroundBrush().color() == QColor(DARK.panel)
    assert pair.by_key["loss"].main.smooth.item.opts["pen"].color() == QColor(DARK.train)


def test_a_plot_is_saved_as_picture_drawing_and_table(qtbot, pair, tmp_path):
    history = history_of(40)
    pair.set_history(history)
    pair.redraw()
    for ending in ("png", "svg", "csv"):
        with qtbot.waitSignal(pair.said) as saved:
            pair.export(pair.by_key["loss"], tmp_path / f"loss.{ending}")
        assert saved.args == [f"Saved the loss plot as loss.{ending}."]
    image = QImage(str(tmp_path / "loss.png"))
    assert image.width() == 2 * pair.by_key["loss"].width()
    amber = QColor(LIGHT.validation).rgb()
    seen = (image.pixel(x, y) for x in range(image.width()) for y in range(image.height()))
    assert any(pixel == amber for pixel in seen)
    drawing = QSvgRenderer(str(tmp_path / "loss.svg"))
    assert drawing.isValid()
    assert drawing.viewBox().size() == pair.by_key["loss"].size()
    rows = list(csv.DictReader(io.StringIO((tmp_path / "loss.csv").read_text())))
    back = np.array([row["train_loss"] for row in rows]).astype(np.float32)
    np.testing.assert_array_equal(back, history.losses)


def test_a_plot_that_cannot_be_saved_is_reported(qtbot, pair, tmp_path):
    with qtbot.waitSignal(pair.said) as failed:
        pair.export(pair.by_key["loss"], tmp_path / "loss.gif")
    assert ".png, .svg or .csv" in failed.args[0]
    with qtbot.waitSignal(pair.said) as failed:
        pair.export(pair.by_key["loss"], tmp_path / "missing" / "loss.csv")
    assert "missing" in failed.args[0]
    with pytest.raises(SaveError):
        figure_file(tmp_path / "missing" / "loss.csv", pair.by_key["loss"], "Loss", str)()


def test_a_table_is_made_in_another_thread(qtbot, pair, tmp_path, monkeypatch):
    threads = []
    real = live_plot.csv_text

    def csv_text(*args, **keywords):
        threads.append(threading.current_thread())
        return real(*args, **keywords)

    monkeypatch.setattr(live_plot, "csv_text", csv_text)
    pair.set_history(history_of(40))
    pair.redraw()
    with qtbot.waitSignal(pair.said, check_params_cb=lambda words: words.startswith("Saved")):
        pair.export(pair.by_key["loss"], tmp_path / "loss.csv")
    assert threads != [threading.main_thread()]
