"""Several runs in the plots: x axes, legend, resumed runs, the learning rate, files."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel

from workbench.curves.learning_rate import SPEC as RATE
from workbench.gui.kit.theme import DARK, LIGHT, Theme
from workbench.gui.plots.axes import log_ticks, round_times
from workbench.gui.plots.scaling import XScale, time_words, x_words
from workbench.gui.train.plots.legend import OVERLAY_COLORS, Overlay, overlay_color
from workbench.gui.train.plots.run_plots import (
    MAIN,
    MAX_INTERVAL_S,
    MIN_INTERVAL_S,
    SLIDER_STEPS,
    RedrawThrottle,
    RunPlots,
)
from workbench.protocol.events import Batch, DataReady, EpochFinished, Plan, RunStarted
from workbench.runs.log.history import MetricHistory


def started(batch_size=100, at=None):
    return RunStarted(
        run="r", target="t", precision="float32", seed=1, versions={}, epochs=4, pid=1,
        plan=Plan(precision="float32"), batch_size=batch_size, resumed_at_step=at, time=1000.0,
    )  # fmt: skip


def batch(first, losses, *, seconds, rate=0.1):
    return Batch(
        epoch=1, step=first + len(losses) - 1, first_step=first, loss=losses[-1], accuracy=0.5,
        losses=losses, accuracies=[0.5] * len(losses), images_per_second=100.0,
        learning_rate=rate, time=1000.0 + seconds,
    )  # fmt: skip


def epoch(number, step, loss=0.5):
    return EpochFinished(
        epoch=number, step=step, loss=loss, accuracy=0.5, val_loss=loss + 0.1, val_accuracy=0.6,
        seconds=1.0, images_per_second=1.0,
    )  # fmt: skip


def trained(epochs=2, steps_per_epoch=10, batch_size=100, height=1.0, step_s=1.0):
    """A run whose loss at step s is height / s, logged once for each five steps."""
    history = MetricHistory()
    history.add(started(batch_size))
    history.add(
        DataReady(
            class_names=["a"], num_train=1, num_validation=1, num_test=1,
            steps_per_epoch=steps_per_epoch,
        )
    )  # fmt: skip
    for first in range(1, epochs * steps_per_epoch + 1, 5):
        steps = range(first, first + 5)
        losses = [height / step for step in steps]
        history.add(batch(first, losses, seconds=(first + 4) * step_s, rate=0.1 / first))
        if (first + 4) % steps_per_epoch == 0:
            history.add(epoch((first + 4) // steps_per_epoch, first + 4, height / first))
    return history


@pytest.fixture
def theme(qapp):
    return Theme("light")


@pytest.fixture
def pair(qtbot, theme):
    pair = RunPlots(theme)
    pair.resize(1100, 520)
    qtbot.addWidget(pair)
    with qtbot.waitExposed(pair):
        pair.show()
    return pair


def overlay_of(pair, history):
    return pair.by_key["loss"].overlays[id(history)]


def drawn(curve):
    x, y = curve.item.getData()
    return np.asarray(x), np.asarray(y)


def captions(card):
    return [label.text() for label in card._captions if not label.isHidden()]


# the x axis ------------------------------------------------------------------------------

ROOMY = XScale(
    kind="time",
    timed_steps=np.array([5, 10, 20], np.int32),
    times=np.array([2.0, 4.0, 12.0], np.float32),
)


def test_a_scale_turns_steps_into_what_is_asked_for():
    steps = np.array([5, 10, 15])
    assert XScale().values(steps).tolist() == [5, 10, 15]
    assert XScale("epoch", steps_per_epoch=10).values(steps).tolist() == [0.5, 1.0, 1.5]
    assert XScale("epoch").values(steps).tolist() == [5, 10, 15]
    assert XScale("images", batch_size=32).values(steps).tolist() == [160, 320, 480]
    assert ROOMY.values(np.array([5, 10, 15, 20, 99])).tolist() == [2.0, 4.0, 8.0, 12.0, 12.0]


@pytest.mark.parametrize("is_log", [False, True])
@pytest.mark.parametrize("kind", ["step", "epoch", "time", "images"])
def test_a_place_leads_back_to_its_step(kind, is_log):
    scale = XScale(kind, 10, 32, ROOMY.timed_steps, ROOMY.times, is_log)
    for step in (6, 10, 17):
        assert scale.step_at(scale.place(step)) == pytest.approx(step, rel=1e-5)


def test_a_logarithmic_axis_has_no_place_for_zero():
    assert np.isnan(XScale("step", is_log=True).place(0.0))


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("step", 1200, "1,200"),
        ("epoch", 2.5, "2.5"),
        ("time", 45, "45 s"),
        ("time", 150, "2:30"),
        ("time", 3750, "1:02:30"),
        ("images", 1_250_000, "1.25 M"),
        ("images", 50_000, "50,000"),
    ],
)
def test_places_are_written_as_people_read_them(kind, value, words):
    assert x_words(kind, value) == words


def test_times_on_the_axis_are_whole_minutes():
    assert [time_words(t) for t in round_times(0, 1300, 6)] == [
        "0 s", "5:00", "10:00", "15:00", "20:00",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "count"), [(0.0, 1.0, 8), (-3.0, 6.0, 5), (-40.0, 40.0, 6)]
)
def test_logarithmic_ticks_are_round_and_few(low, high, count):
    ticks = log_ticks(low, high, count)
    assert 2 <= len(ticks) <= count
    assert all(low <= tick <= high for tick in ticks)


@pytest.mark.parametrize(
    ("kind", "x"), [("step", 20.0), ("epoch", 2.0), ("time", 40.0), ("images", 2000.0)]
)
def test_all_plots_show_the_chosen_axis(pair, kind, x):
    pair.choices.below["learning_rate"].setChecked(True)
    pair.set_history(trained(step_s=2.0))
    pair.choices.axes[kind].trigger()
    pair.redraw()
    for curve in (
        pair.by_key["loss"].main.raw,
        pair.by_key["accuracy"].main.raw,
        pair.by_key["learning_rate"].main.raw,
    ):
        # The first event's batches have no earlier time; time counts from the first event.
        assert drawn(curve)[0][-1] == pytest.approx(x)
    ranges = [plot.axes.x_range() for plot in pair.by_key.values()]
    assert ranges[0] == pytest.approx(ranges[1])
    assert ranges[0] == pytest.approx(ranges[2])
    assert ranges[0][1] >= x


def test_runs_of_other_batch_sizes_meet_at_the_same_epoch_and_image(pair):
    main, other = (
        trained(batch_size=100, steps_per_epoch=10),
        trained(batch_size=50, steps_per_epoch=20),
    )
    pair.set_history(main)
    pair.set_overlays([Overlay("half", overlay_color(0), other)])
    for kind in ("epoch", "images"):
        pair.choices.axes[kind].trigger()
        pair.redraw()
        ends = [
            drawn(run.raw)[0][-1] for run in (pair.by_key["loss"].main, overlay_of(pair, other))
        ]
        assert ends[0] == pytest.approx(ends[1])


def test_a_long_run_keeps_its_first_steps_on_a_logarithmic_axis(pair):
    history = MetricHistory()
    history.add(started())
    for first in range(1, 200_001, 1000):
        values = [1.0 / step for step in range(first, first + 1000)]
        history.add(batch(first, values, seconds=float(first)))
    pair.choices.axes["step"].trigger()
    pair.choices.log_x.setChecked(True)
    pair.set_history(history)
    pair.redraw()
    x, y = drawn(pair.by_key["loss"].main.raw)
    assert len(x) < 6000
    assert np.all(np.diff(x) >= 0)
    assert {0.0, np.log10(2.0), np.log10(3.0)} <= set(x.tolist())
    assert y[0] == 1.0


# several runs ----------------------------------------------------------------------------


def test_another_run_is_drawn_below_the_current_one_with_its_raw_line_faint(pair):
    main, other = trained(), trained(height=3.0)
    pair.choices.axes["step"].trigger()
    pair.set_history(main, "main")
    pair.set_overlays([Overlay("other", "#16a34a", other)])
    pair.redraw()
    pair.smoothing.slider.setValue(SLIDER_STEPS // 2)
    pair.redraw()
    run = overlay_of(pair, other)
    x, y = drawn(run.raw)
    assert x.tolist() == list(range(1, 21))
    np.testing.assert_array_equal(y, other.losses)
    assert run.raw.item.opts["pen"].color().alpha() < 80
    assert run.smooth.item.opts["pen"].color() == QColor("#16a34a")
    assert run.smooth.item.zValue() < pair.by_key["loss"].main.raw.item.zValue()
    assert pair.by_key["loss"].axes.box.viewRange()[1][1] > 3.0


def test_a_run_is_drawn_alone_as_beside_a_run_with_longer_epochs(pair):
    """To the digit: each run is averaged by its own epochs, and not by those of the one shown."""
    short, long = trained(epochs=3, steps_per_epoch=60), trained(epochs=3, steps_per_epoch=845)
    alone = {}
    for key, run in (("short", short), ("long", long)):
        pair.set_history(run)
        pair.redraw()
        alone[key] = [np.array(c.y) for c in pair.by_key["loss"].main.curves]
    pair.set_overlays([Overlay("short", "#16a34a", short)])
    pair.redraw()
    beside = overlay_of(pair, short)
    assert len(alone["short"][1]) == 180, "its average is drawn"
    for curves, wanted in (
        (beside.curves, alone["short"]),
        (pair.by_key["loss"].main.curves, alone["long"]),
    ):
        assert len(curves) == len(wanted)
        for curve, values in zip(curves, wanted, strict=True):
            np.testing.assert_array_equal(curve.y, values)
    read = beside.smoothed_at(60)
    pair.set_overlays([])
    pair.set_history(short)
    pair.redraw()
    assert pair.by_key["loss"].main.smoothed_at(60) == read


def test_the_average_does_not_lag_by_an_epoch(pair):
    """It was one of 30 steps for long runs: at 60 steps an epoch it was far behind the batches."""
    history = trained(epochs=20, steps_per_epoch=60, height=40.0)
    pair.set_history(history)
    pair.redraw()
    main = pair.by_key["loss"].main
    assert main.is_smooth
    assert main.smoothed_at(60) < 1.2 * float(history.losses[59])


def test_one_slider_smooths_all_plots(pair):
    pair.set_history(trained())
    pair.smoothing.slider.setValue(SLIDER_STEPS)
    pair.redraw()
    for key in ("loss", "accuracy"):
        assert pair.by_key[key].main.is_smooth
    pair.smoothing.slider.setValue(0)
    pair.redraw()
    assert not any(pair.by_key[key].main.is_smooth for key in ("loss", "accuracy"))


def test_dashes_are_said_of_the_lines_that_have_them(pair):
    pair.set_history(trained())
    other = trained()
    pair.set_overlays([Overlay("other", overlay_color(0), other)])
    pair.redraw()
    shown = [label.text() for label in pair.legend.findChildren(QLabel) if label.isVisible()]
    assert shown == ["dashed: validation of overlaid runs"]
    for plot in (pair.by_key["loss"], pair.by_key["accuracy"]):
        beside = plot.overlays[id(other)]
        dashed = [
            curve.item
            for run in (plot.main, beside)
            for curve in run.curves
            if curve.item.opts["pen"].style() == Qt.PenStyle.DashLine
        ]
        assert dashed == [beside.epoch_validation.item]
        assert drawn(beside.epoch_validation)[0].size, "it is drawn"
    pair.set_overlays([])
    assert not pair.legend.isVisible(), "one run has no dashes"


def test_the_legend_hides_a_run_and_shows_it_again(pair):
    main, other = trained(), trained(height=3.0)
    pair.set_history(main, "main")
    pair.set_overlays([Overlay("other & more", overlay_color(0), other)])
    pair.redraw()
    assert pair.legend.isVisible()
    pair.legend.buttons[id(other)].click()
    pair.redraw()
    assert not overlay_of(pair, other).raw.item.isVisible()
    assert pair.by_key["loss"].axes.box.viewRange()[1][1] < 1.5
    pair.legend.buttons[MAIN].click()
    pair.legend.buttons[id(other)].click()
    pair.redraw()
    assert overlay_of(pair, other).raw.item.isVisible()
    assert not pair.by_key["loss"].main.raw.item.isVisible()
    pair.set_overlays([])
    pair.redraw()
    assert not pair.legend.isVisible()
    assert pair.by_key["loss"].main.raw.item.isVisible()


def test_overlays_come_and_go_and_keep_what_they_have(pair):
    main, one, two = trained(), trained(), trained()
    pair.set_history(main)
    pair.set_overlays([Overlay("one", overlay_color(0), one)])
    pair.redraw()
    kept = overlay_of(pair, one)
    pair.set_overlays([Overlay("two", overlay_color(1), two), Overlay("one!", "#16a34a", one)])
    pair.redraw()
    assert overlay_of(pair, one) is kept
    assert kept.title == "one!"
    pair.set_overlays([])
    assert pair.by_key["loss"].overlays == {}
    assert kept.raw.item.scene() is None


def test_an_overlay_grows_with_its_history(pair):
    main, other = trained(), trained(epochs=1)
    pair.choices.axes["step"].trigger()
    pair.set_history(main)
    pair.set_overlays([Overlay("other", overlay_color(0), other)])
    pair.redraw()
    other.add(batch(11, [0.5, 0.25], seconds=12))
    pair.grow()
    pair.redraw()
    assert drawn(overlay_of(pair, other).raw)[0][-1] == 12


def test_the_crosshair_reads_every_run_shown(pair):
    main, other, third = trained(), trained(height=3.0), trained(height=7.0)
    pair.choices.axes["step"].trigger()
    pair.set_history(main, "main")
    overlays = [Overlay("other", "#16a34a", other), Overlay("third", "#9b5de5", third)]
    pair.set_overlays(overlays)
    pair.legend.buttons[id(third)].click()
    pair.redraw()
    pair.by_key["loss"].axes.hovered.emit(10.2)
    rows = [
        (row.name.text(), row.train.text(), row.validation.text())
        for row in pair.by_key["loss"].card.rows
        if not row.name.isHidden()
    ]
    assert rows == [("main", "0.1000", "0.2667"), ("other", "0.3000", "0.6000")]
    assert captions(pair.by_key["loss"].card) == ["train", "validation, epoch 1"]
    pair.by_key["loss"].axes.hovered.emit(None)
    assert pair.by_key["loss"].card.isHidden()


@pytest.mark.parametrize("color", OVERLAY_COLORS)
def test_overlay_colours_stand_out_in_both_themes(color):
    def luminance(name):
        parts = np.array(QColor(name).getRgbF()[:3])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    for panel in (LIGHT.panel, DARK.panel):
        low, high = sorted((luminance(panel), luminance(color)))
        assert (high + 0.05) / (low + 0.05) >= 3.0
    assert OVERLAY_COLORS.count(color) == 1


def test_the_eyes_of_few_runs_have_not_the_colors_of_their_states():
    """The dot before a run is green or blue: a curve of that color would seem to be its state."""
    states = [QColor(name) for theme in (LIGHT, DARK) for name in (theme.good, theme.train)]
    for color in map(QColor, OVERLAY_COLORS[:8]):
        is_gray = color.saturation() < 100
        assert is_gray or all(abs(color.hue() - state.hue()) > 25 for state in states), color.name()


# resumed runs ----------------------------------------------------------------------------


def test_a_resumed_run_is_redrawn_even_when_it_is_longer_than_before(pair):
    history = trained()
    pair.choices.axes["step"].trigger()
    pair.set_history(history)
    pair.redraw()
    pair.smoothing.slider.setValue(SLIDER_STEPS // 2)
    pair.redraw()
    history.add(started(at=10))
    history.add(batch(11, [9.0] * 15, seconds=60))
    history.add(epoch(2, 20, 9.0))
    pair.redraw()
    x, y = drawn(pair.by_key["loss"].main.raw)
    assert x.tolist() == list(range(1, 26))
    np.testing.assert_array_equal(y, history.losses)
    assert len(pair.by_key["loss"].main.smooth.y) == 25
    assert pair.by_key["loss"].main.smooth.y[-1] > 5.0
    assert drawn(pair.by_key["loss"].main.epoch_validation)[1].tolist() == [1.0 / 6 + 0.1, 9.1]


def test_an_epoch_that_is_logged_again_counts_as_it_was_logged_last(pair):
    history = trained()
    pair.set_history(history)
    pair.redraw()
    history.add(epoch(2, 20, 7.0))
    pair.redraw()
    assert drawn(pair.by_key["loss"].main.epoch_validation)[1].tolist() == [1.0 / 6 + 0.1, 7.1]


# the learning rate -----------------------------------------------------------------------


def test_the_learning_rate_has_a_plot_of_its_own(qtbot, pair, tmp_path):
    history = trained()
    pair.set_history(history)
    assert not pair.by_key["learning_rate"].isVisible()
    pair.choices.below["learning_rate"].setChecked(True)
    pair.redraw()
    assert pair.by_key["learning_rate"].isVisible()
    np.testing.assert_array_equal(
        drawn(pair.by_key["learning_rate"].main.raw)[1], history.series(RATE).values
    )
    pair.by_key["learning_rate"].axes.hovered.emit(1.0)
    assert pair.by_key["learning_rate"].card.train.text() == "0.0167"
    assert not pair.by_key["learning_rate"].card.validation.isVisible()
    with qtbot.waitSignal(pair.said, check_params_cb=lambda words: words.startswith("Saved")):
        pair.export(pair.by_key["learning_rate"], tmp_path / "rate.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "rate.csv").read_text())))
    back = np.array([row["learning_rate"] for row in rows]).astype(np.float32)
    np.testing.assert_array_equal(back, history.series(RATE).values)
    pair.choices.below["learning_rate"].setChecked(False)
    assert not pair.by_key["learning_rate"].isVisible()


# files -----------------------------------------------------------------------------------


def test_a_table_holds_all_runs_shown_with_their_images_and_seconds(qtbot, pair, tmp_path):
    main, other, hidden = trained(), trained(height=3.0, batch_size=7), trained()
    pair.set_history(main, "main")
    colors = [overlay_color(index) for index in (0, 1)]
    pair.set_overlays([Overlay("other", colors[0], other), Overlay("hid", colors[1], hidden)])
    pair.legend.buttons[id(hidden)].click()
    pair.redraw()
    with qtbot.waitSignal(pair.said, check_params_cb=lambda words: words.startswith("Saved")):
        pair.export(pair.by_key["loss"], tmp_path / "loss.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "loss.csv").read_text())))
    assert {row["run"] for row in rows} == {"main", "other"}
    last = rows[-1]
    assert (last["run"], last["step"], last["images"]) == ("other", "20", "140")
    assert float(last["seconds"]) == pytest.approx(20.0)
    assert np.float32(last["train_loss"]) == other.losses[-1]
    with qtbot.waitSignal(pair.said, check_params_cb=lambda words: words.startswith("Saved")):
        pair.export(pair.by_key["loss"], tmp_path / "loss.svg")
    assert QSvgRenderer(str(tmp_path / "loss.svg")).isValid()


# how often -------------------------------------------------------------------------------


def test_drawing_waits_where_it_would_change_no_pixel():
    pace = RedrawThrottle()
    assert pace.wait_s(0.0, (10, 0), 1.0) == 0.0
    pace.drew(100.0, 0.0, (10, 0))
    assert pace.wait_s(100.0, (12, 0), 1.0) == pytest.approx(MIN_INTERVAL_S)
    assert pace.wait_s(100.0, (12, 0), 50.0) == pytest.approx(MAX_INTERVAL_S)
    assert pace.wait_s(100.0, (12, 1), 50.0) == pytest.approx(MIN_INTERVAL_S)
    pace.drew(100.0, 10.0, (10, 0))
    assert pace.wait_s(100.0, (500, 0), 1.0) == pytest.approx(MAX_INTERVAL_S)


def test_axes_stay_while_a_run_grows_a_little(pair):
    history = trained(epochs=3, steps_per_epoch=100)
    pair.choices.axes["step"].trigger()
    pair.set_history(history)
    pair.redraw()
    before = [plot.axes.box.viewRange() for plot in pair.by_key.values()]
    history.add(batch(301, [0.01] * 5, seconds=400))
    pair.redraw()
    assert [plot.axes.box.viewRange() for plot in pair.by_key.values()] == before
    assert before[0][0][1] < 1.2 * 300
