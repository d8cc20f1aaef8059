"""The code of the views is loaded when there is a project, not before, and in one thread."""

from __future__ import annotations

import subprocess
import sys

import pytest

from workbench.core.projects.project_file import save_project
from workbench.templates import find_template

_SCRIPT = """
import os, sys, threading
from pathlib import Path
from PySide6.QtWidgets import QApplication
from workbench.app import close_context, make_context, make_window
app = QApplication([])
context = make_context(Path(sys.argv[1]), app)
context.theme.apply(app)
window = make_window(context, Path(sys.argv[1]))
window.show()
app.processEvents()
print("pyqtgraph" in sys.modules)

class Threads:
    seen = set()
    def find_spec(self, name, path, target=None):
        if name.startswith(("pyqtgraph", "workbench.gui", "PySide6")):
            self.seen.add(threading.current_thread().name)

sys.meta_path.insert(0, Threads())
if sys.argv[2] == "with":
    window.preload.finished.connect(app.quit)
    window.files.new()
    app.exec()
print("pyqtgraph" in sys.modules)
print(*Threads.seen or {"MainThread"})
window.show_view("train")
app.processEvents()
print("tensorflow" in sys.modules)
window.hide()
close_context(context)
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.parametrize(("project", "seen"), [("with", "True"), ("without", "False")])
def test_plots_are_loaded_in_the_window_s_thread_once_a_project_is_there_tensorflow_never(
    tmp_path, project, seen
):
    command = [sys.executable, "-W", "error", "-c", _SCRIPT, str(tmp_path), project]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["False", seen, "MainThread", "False"]


_OPENED = """
import gc, sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from workbench.app import run_window
from workbench.client.service_process import ServiceProcess
app = QApplication([])

def states():
    return [service.state for service in app.findChildren(ServiceProcess)]

def look():
    if gc.get_freeze_count() and states()[0] == "The service worker is ready":
        print("pyqtgraph" in sys.modules, gc.get_freeze_count() > 50_000)
        (window,) = (w for w in app.topLevelWidgets() if w.objectName() == "main_window")
        print(*window.views.built)
        app.quit()

looking = QTimer()
looking.timeout.connect(look)
looking.start(20)
QTimer.singleShot(60_000, app.quit)
run_window(sys.argv[1])
"""


def test_a_window_with_a_project_has_a_service_and_freezes_what_is_loaded(tmp_path):
    path = tmp_path / "p.workbench"
    save_project(find_template("lenet5").project, path)
    command = [sys.executable, "-W", "error", "-c", _OPENED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "True", "design"]


_REFUSED = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from workbench.app import run_window
app = QApplication([])

def look():
    message = app.activeModalWidget()
    (window,) = (w for w in app.topLevelWidgets() if w.objectName() == "main_window")
    if message is not None and window.views.current_key:
        print(window.views.current_key)
        message.close()
        QTimer.singleShot(0, app.quit)

looking = QTimer()
looking.timeout.connect(look)
looking.start(20)
QTimer.singleShot(60_000, app.quit)
run_window(sys.argv[1])
"""


def test_behind_the_error_of_a_project_that_cannot_be_opened_is_the_welcome_page(tmp_path):
    path = tmp_path / "p.workbench"
    path.write_text("{")
    command = [sys.executable, "-W", "error", "-c", _REFUSED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "welcome"
