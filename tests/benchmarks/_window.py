"""The real window of a benchmark or a proof, as large as people have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from workbench.gui.common.context import WindowContext
    from workbench.gui.shell.main_window import MainWindow


def shown_window() -> tuple[QApplication, WindowContext, MainWindow]:
    """An application with its window, whose data are in WORKBENCH_HOME."""
    # Not at the top: a benchmark sets the platform and WORKBENCH_HOME first.
    from PySide6.QtWidgets import QApplication

    from workbench.app import make_context, make_window
    from workbench.runs.home import data_home

    app = QApplication([])
    context = make_context(data_home(), app)
    context.theme.apply(app)
    window = make_window(context, data_home())
    window.resize(1440, 880)
    window.show()
    return app, context, window
