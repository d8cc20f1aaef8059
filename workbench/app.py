"""The window's composition root: the only place that imports all its parts.

TensorFlow is never imported here: trainings and classification are other processes.
"""

# ruff: noqa: E402 - the guard must come before the first import of Qt

from __future__ import annotations

import gc

from workbench.qt_guard import guard_none

guard_none()

from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from workbench.client.run_library import RunLibrary
from workbench.client.service_process import ServiceProcess
from workbench.datasets import all_datasets
from workbench.document.project_document import ProjectDocument
from workbench.first_frame import FirstFrame, make_application
from workbench.gui.common.context import OpenFindings, WindowContext, WindowState
from workbench.gui.common.next_run import ReadyKeeper, RunEstimator
from workbench.gui.common.run_text import ProjectRuns
from workbench.gui.common.weights import WeightsLoader
from workbench.gui.files.opening import RecoveryController
from workbench.gui.kit.theme import Theme, allow_motion
from workbench.gui.shell.faults import Faults
from workbench.gui.shell.main_window import MainWindow
from workbench.layers import all_layers
from workbench.runs.home import data_home, runs_home
from workbench.settings.options.animates import SPEC as ANIMATES
from workbench.settings.options.theme import SPEC as THEME
from workbench.settings.store import Settings, SettingsStore
from workbench.targets import all_targets


def run_window(project_path: str | None = None, frame: FirstFrame | None = None) -> int:
    """Opens the window, with a project or the welcome page, until it is closed.

    Args:
        project_path: The project; None for the welcome page.
        frame: What is shown until then; closed here.

    Returns:
        The exit code for the process.
    """
    app = make_application()
    faults = Faults(data_home() / "logs")
    faults.install()
    context = make_context(data_home(), app)
    if project_path:  # it starts while the window is made: a picture may be dropped at once
        context.service.start()
    context.theme.apply(app)
    window = make_window(context, data_home(), has_project=bool(project_path))
    faults.window = window
    # All that is loaded with the first project stays to the end: searching it for garbage took
    # 50 ms of the window's thread at a time.
    window.preload.finished.connect(gc.freeze)
    recovery = RecoveryController(context.document, data_home() / "recovery", window)
    recovery.recovered.connect(lambda: window.show_view("design"))
    recovery.said.connect(window.say)
    _follow_motion(context.settings)
    keeper = keep_trainer_ready(window)
    window.show()
    if frame is not None:
        frame.close()
    QTimer.singleShot(0, window, lambda: _after_first_paint(window, recovery, project_path, faults))
    code = app.exec()
    keeper.close()
    recovery.close()
    close_context(context)
    faults.uninstall()
    return code


def _follow_motion(settings: SettingsStore) -> None:
    def follow(changed: Settings) -> None:
        allow_motion(is_allowed=changed.get(ANIMATES))

    settings.listen(follow)
    follow(settings.settings)


def make_context(home: Path, owner: QObject | None = None) -> WindowContext:
    """The parts that all views share.

    Args:
        home: Folder of settings and, where the settings name no other, of runs.
        owner: Deletes the parts with itself: in the application Qt does, before its own end.
    """
    settings = SettingsStore(home)
    layers, datasets = all_layers(), all_datasets()
    theme = Theme(settings.settings.get(THEME), owner)
    settings.listen(lambda changed: theme.set_mode(changed.get(THEME)))
    targets = all_targets()
    document = ProjectDocument(
        layers, datasets=datasets, targets=targets, state_folder=home / "open", parent=owner
    )
    library = RunLibrary(runs_home(settings.settings), owner)
    ProjectRuns(document, library, owner or document)
    service = ServiceProcess(owner)
    return WindowContext(
        document=document,
        library=library,
        service=service,
        measurer=ServiceProcess(owner),
        weights=WeightsLoader(document, library, service, owner),
        estimator=RunEstimator(document, library, owner),
        findings=OpenFindings(owner),
        theme=theme,
        settings=settings,
        layers=layers,
        datasets=datasets,
        targets=targets,
    )


def make_window(context: WindowContext, home: Path, *, has_project: bool = False) -> MainWindow:
    """The window around the parts, not shown yet: at the welcome page, unless a project is about to
    be opened in it.
    """
    state = WindowState(context.settings, home / "window.ini", context.document)
    window = MainWindow(context, state)
    if not has_project:
        window.show_view("welcome")
    return window


def keep_trainer_ready(window: MainWindow) -> ReadyKeeper:
    """Keeps a trainer ready for the window, until it is closed."""
    context = window.context
    keeper = ReadyKeeper(context.document, context.library, context.settings, window)
    window.top.switch.chosen.connect(keeper.touch)
    return keeper


def close_context(context: WindowContext) -> None:
    """Ends what runs beside the window; trainings go on by themselves."""
    context.document.close()
    context.estimator.close()
    context.library.close()
    context.service.end()
    context.measurer.end()
    context.settings.close()


def _after_first_paint(
    window: MainWindow, recovery: RecoveryController, project_path: str | None, faults: Faults
) -> None:
    window.context.library.open()
    for note in filter(None, (faults.problem, window.context.settings.note)):
        window.say(note)
    if project_path:
        # Where it cannot be opened, while the error is shown.
        QTimer.singleShot(0, window, lambda: _show_any(window))
        window.files.open(project_path)
    recovery.offer()


def _show_any(window: MainWindow) -> None:
    if not window.views.current_key:
        window.show_view("welcome")
