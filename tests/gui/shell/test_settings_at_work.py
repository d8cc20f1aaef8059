"""Settings of the application do what they say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLabel, QWidget

from workbench.gui.forms.param_editors import HintLine
from workbench.gui.help import SettingsDialog
from workbench.runs.home import runs_home
from workbench.settings.options import all_settings
from workbench.settings.options.keeps_trainer_ready import SPEC as KEEPS_READY
from workbench.settings.store import SettingsStore

ROOT = Path(__file__).resolve().parents[3]

SHOW_SCALE = """
import os
from workbench.first_frame import make_application
print(make_application().primaryScreen().devicePixelRatio(), os.environ.get("QT_SCALE_FACTOR"))
"""
"""The factor, and what is handed on to a window that is started from this one."""


@pytest.mark.parametrize(("outside", "expected"), [(None, "1.5 None"), ("2", "2.0 2")])
def test_text_size_scales_the_next_start_unless_the_desktop_does(tmp_path, outside, expected):
    store = SettingsStore(tmp_path)
    store.change(display_scale="150")
    store.close()
    environment = {**os.environ, "WORKBENCH_HOME": str(tmp_path)}
    environment.pop("QT_SCALE_FACTOR", None)
    if outside:
        environment["QT_SCALE_FACTOR"] = outside
    words = [sys.executable, "-c", SHOW_SCALE]
    shown = subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == expected


def test_the_settings_show_where_runs_are_when_no_folder_is_chosen(qtbot, context):
    dialog = SettingsDialog(context, context.settings.settings)
    qtbot.addWidget(dialog)
    line = dialog.findChild(QWidget, "param_runs_folder").findChild(HintLine)
    assert line.text() == ""
    assert line.hint == str(runs_home(context.settings.settings))
    assert Path(line.hint).is_absolute()
    assert line.hint in line.toolTip()
    start, _, end = line.placeholderText().partition("…")
    assert line.hint.startswith(start)
    assert line.hint.endswith(end)


def test_the_settings_scroll_on_a_low_screen_and_say_what_they_do_where_they_are(qtbot, context):
    dialog = SettingsDialog(context, context.settings.settings)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.minimumSizeHint().height() < 640 / 1.5 - 48
    labels = dialog.form.findChildren(QLabel)
    shown = [label for label in labels if label.isVisibleTo(dialog)]
    place = {label.text(): label.mapTo(dialog, QPoint()).y() for label in shown}
    one_line = shown[0].sizeHint().height()
    titles = {spec.param.title for spec in all_settings().values()}
    assert all(label.height() < 2 * one_line for label in shown if label.text() in titles)
    ready, note = place["Keep a trainer ready"], place[KEEPS_READY.note]
    assert 0 < note - ready < 3 * one_line
    assert not any(ready < place[title] < note for title in titles)


SHOW_FRAME = """
import json, sys
from workbench.first_frame import FirstFrame, make_application
app = make_application()
frame = FirstFrame()
frame.show_now()
loaded = [name for name in sys.modules if name.startswith("workbench.gui")]
image = frame.grab().toImage()
seen = [frame.isVisible(), image.pixelColor(20, 20).lightness() < 128]
from workbench import app as program
program.QTimer.singleShot(1500, app.quit)
seen.append(program.run_window(None, frame))
print(json.dumps([*seen, frame.isVisible(), "workbench.gui.shell.main_window" in loaded]))
"""


def test_a_frame_in_the_theme_is_shown_before_the_window_is_loaded(tmp_path):
    store = SettingsStore(tmp_path)
    store.change(theme="dark")
    store.close()
    environment = {**os.environ, "WORKBENCH_HOME": str(tmp_path)}
    shown = subprocess.run(
        [sys.executable, "-c", SHOW_FRAME],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(shown.stdout) == [True, True, 0, False, False]
