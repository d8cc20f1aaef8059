"""Takes pictures of every view in light and dark, with a real training behind them.

Started by packaging/screenshots.sh FOLDER.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QEventLoop, QSize, QTimer
from PySide6.QtWidgets import QApplication

SIZE = QSize(1440, 900)


def main(folder: Path) -> None:
    """Trains the bundled network once, then photographs."""
    os.environ["WORKBENCH_HOME"] = tempfile.mkdtemp(prefix="workbench-shots-")
    from workbench.app import close_context, make_context, make_window  # noqa: PLC0415
    from workbench.runs.home import data_home  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    context = make_context(data_home(), app)
    context.theme.apply(app)
    window = make_window(context, data_home())
    window.resize(SIZE)
    window.show()
    context.library.open()
    photographer = Photographer(window, folder)
    photographer.welcome()
    photographer.train()
    photographer.views()
    photographer.runs()
    photographer.finders()
    window.hide()
    close_context(context)


class Photographer:
    """Brings the window into each state worth a picture.

    Args:
        window: The real main window.
        folder: Where the PNG files go.
    """

    def __init__(self, window, folder: Path) -> None:  # noqa: ANN001 - imported late
        self._window = window
        self._folder = folder

    def welcome(self) -> None:
        """The page people see first."""
        self._both("welcome")

    def train(self) -> None:
        """Opens the bundled network and trains it to the end."""
        from workbench.templates import find_template  # noqa: PLC0415

        window = self._window
        window.context.document.new(find_template("fashion_convnet").project)
        window.show_view("train")
        library = window.context.library
        library.start_run(window.context.document.project)
        wait(lambda: library.current is not None, 30)
        wait(lambda: len(library.current.history.epochs) > 2, 300)
        self._both("training")
        wait(lambda: library.current.outcome.is_over, 300)

    def views(self) -> None:
        """Design, with and without a problem; data; train; evaluate; classify."""
        from workbench.assets import sample_paths  # noqa: PLC0415
        from workbench.templates import find_template  # noqa: PLC0415

        window, document = self._window, self._window.context.document
        window.show_view("train")
        self._both("train")
        evaluate = window.show_view("evaluate")
        answers: list[object] = []
        evaluate.evaluated.connect(answers.append)
        evaluate.evaluate()
        wait(lambda: answers, 120)
        self._both("evaluate")
        window.classify([str(path) for path in sample_paths()])
        wait(lambda: window.views.currentWidget().result.entry is not None, 60)
        pause(3_000)
        self._both("classify")
        window.show_view("data")
        pause(15_000)
        self._both("data")
        project = find_template("cifar10_convnet").project
        for name, title in (("design", ""), ("problem", "flatten")):
            graph = project.graph
            node = next((n for n in graph.nodes.values() if n.kind == title), None)
            if node is not None:
                graph = graph.without_nodes([node.id])
            document.new(replace(project, graph=graph))
            design = window.design()
            conv = next(n.id for n in graph.nodes.values() if n.name == "conv2d_2")
            design.canvas.select([conv])
            if node is not None:
                window.show_problem(document.analysis.problems[0])
            self._both(name)
        document.new(find_template("small_resnet").project)
        window.design().canvas.view.fit()
        self._both("branches")

    def runs(self) -> None:
        """Several runs: one beside another, paused, resumed, compared, one that waits."""
        from workbench.gui.dialogs.compare_runs import CompareRuns  # noqa: PLC0415
        from workbench.runs.notes import RunNotes  # noqa: PLC0415
        from workbench.templates import find_template  # noqa: PLC0415

        window, library = self._window, self._window.context.library
        document = window.context.document
        document.new(find_template("fashion_convnet").project)
        view = window.show_view("train")
        first = library.current.run.path
        library.set_notes(first, RunNotes(title="Baseline", tags=["baseline"]))
        document.set_recipe(schedule="one_cycle", label_smoothing=0.1)
        library.start_run(document.project, title="One cycle")
        wait(lambda: library.current.run.path != first, 60)
        wait(lambda: len(library.current.history.epochs) > 1, 600)
        library.toggle_shown(first)
        library.start_run(document.project, title="One cycle again", wait=True)
        wait(lambda: library.num_waiting, 30)
        pause(1_000)
        self._both("overlay")
        second = library.current
        view.header.plan.click()
        self._parts("plan", view.header.popup)
        view.header.popup.close()
        library.stop(next(run.path for run in library.runs if run.queue_place))
        library.pause()
        wait(lambda: second.is_over, 120)
        self._both("paused")
        library.resume(second.run.path)
        wait(lambda: second.history.started.resumed_at_step is not None, 600)
        wait(lambda: not second.is_over and second.history.progress.fraction > 0.5, 600)
        self._both("resumed")
        wait(lambda: second.is_over, 600)
        view.curves.show_page("classes")
        pause(2_000)
        self._both("classes")
        view.curves.show_page("curves")
        library.toggle_shown(first)
        dialog = CompareRuns(window.context.theme, library.runs, first, second.run.path, window)
        dialog.show()
        wait(lambda: dialog.comparison is not None, 30)
        self._parts("compare", dialog)
        dialog.reject()

    def finders(self) -> None:
        """A run that would not fit; then the learning rate and the batch size, found.

        Ten batch sizes are compiled one after the other: minutes on a computer that is busy.
        """
        window = self._window
        view = window.show_view("train")
        window.context.document.set_recipe(batch_size=65_536)
        self._both("will_not_fit")
        window.context.document.undo_stack.undo()
        for name in ("find_rate", "find_batch"):
            getattr(view.recipe, name).click()
            dialog = view.finders.dialog
            wait(lambda dialog=dialog: not dialog.is_searching, 1_800)
            self._parts(name, dialog)
            dialog.reject()

    def _parts(self, name: str, part) -> None:  # noqa: ANN001 - any widget
        """A dialog or a popup alone."""
        for mode in ("light", "dark"):
            self._window.context.theme.set_mode(mode)
            pause(500)
            part.grab().save(str(self._folder / f"{name}_{mode}.png"))
        self._window.context.theme.set_mode("light")

    def _both(self, name: str) -> None:
        for mode in ("light", "dark"):
            self._window.context.theme.set_mode(mode)
            pause(700)
            self._window.grab().save(str(self._folder / f"{name}_{mode}.png"))
        self._window.context.theme.set_mode("light")


def wait(is_there: Callable[[], object], timeout_s: float) -> None:
    """Lets the window run until something is there."""
    end = time.monotonic() + timeout_s
    while not is_there():
        if time.monotonic() > end:
            raise SystemExit(f"Gave up after {timeout_s:.0f} s.")
        pause(50)


def pause(milliseconds: int) -> None:
    """Lets the window run for a while."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
