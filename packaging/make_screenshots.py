"""Takes pictures of every view in light and dark, with a real training behind them.

Started by packaging/screenshots.sh [FOLDER [PART...]]; a part is a method of Photographer.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QEventLoop, QSize, QTimer
from PySide6.QtWidgets import QApplication

SIZE = QSize(1440, 900)


PARTS = ("welcome", "train", "views", "export", "runs", "finders", "places", "far")


def main(folder: Path, parts: Sequence[str] = PARTS) -> None:
    """Photographs; the first parts train the bundled network, and the others look at it."""
    from workbench.app import close_context, make_context, make_window  # noqa: PLC0415
    from workbench.runs.home import cache_home, data_home  # noqa: PLC0415

    compiler = cache_home() / "compiler"
    os.environ["WORKBENCH_HOME"] = tempfile.mkdtemp(prefix="workbench-shots-")
    if compiler.is_dir():  # 1 GB: looked at where it is
        cache_home().mkdir(parents=True)
        (cache_home() / "compiler").symlink_to(compiler)
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    context = make_context(data_home(), app)
    context.theme.apply(app)
    window = make_window(context, data_home())
    window.resize(SIZE)
    window.show()
    context.library.open()
    photographer = Photographer(window, folder)
    for part in parts:
        getattr(photographer, part)()
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
        self._trained: Path | None = None

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
        self._trained = library.current.run.path

    def views(self) -> None:
        """Design, with and without a problem; data; train; evaluate; classify."""
        from workbench.assets import sample_paths  # noqa: PLC0415
        from workbench.templates import find_template  # noqa: PLC0415

        window, document = self._window, self._window.context.document
        window.show_view("train")
        self._both("train")
        evaluate = window.show_view("evaluate")
        wait(lambda: evaluate.state.evaluation is not None, 30)
        self._both("evaluate")
        evaluate.state.cell_pointed.emit(6, 0)
        evaluate.state.images_wanted.emit(6, 0)
        pause(5_000)
        self._both("evaluate_images")
        window.classify([str(path) for path in sample_paths()])
        panels = window.views.currentWidget().panels
        wait(lambda: panels["classify_result"].entry is not None, 60)
        wait(panels["classify_explanation"].menu_button.isEnabled, 120)  # the heat map is there
        pause(1_000)
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

    def export(self) -> None:
        """The Export dialog, with what has become of two formats."""
        from workbench.gui.train.exporting.dialog import ExportDialog  # noqa: PLC0415

        window = self._window
        window.runs.ask_export(self._trained)  # another project is open by now
        dialog = window.findChild(ExportDialog)
        dialog.resize(1_000, 652)  # the platform's screen is smaller than people have
        with tempfile.TemporaryDirectory(prefix="workbench-exports-") as folder:
            for key in ("onnx", "litert_int8"):
                dialog.formats.select(key)
                dialog.begin(f"{folder}/model{dialog.formats.current.suffix}", is_ready=False)
                wait(lambda: not dialog.is_exporting, 300)
                pause(500)
        self._parts("export", dialog)
        dialog.reject()

    def runs(self) -> None:
        """Several runs: one beside another, paused, resumed, compared, one that waits."""
        from workbench.gui.train.runs.compare_dialog import CompareRuns  # noqa: PLC0415
        from workbench.runs.store.notes import RunNotes  # noqa: PLC0415
        from workbench.templates import find_template  # noqa: PLC0415

        window, library = self._window, self._window.context.library
        document = window.context.document
        document.new(find_template("fashion_convnet").project)
        view = window.show_view("train")
        library.start_run(document.project)  # runs belong to their project
        wait(lambda: library.current is not None and library.current.is_over, 300)
        first = library.current.run.path
        library.set_notes(first, RunNotes(title="Baseline", tags=["baseline"]))
        # Long enough that it goes on when it is paused.
        document.set_recipe(schedule="one_cycle", label_smoothing=0.1, epochs=8)
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
            getattr(view.panels["train_recipe"], name).click()
            dialog = view.finders.dialog
            wait(lambda dialog=dialog: not dialog.is_searching, 1_800)
            self._parts(name, dialog)
            dialog.reject()

    def places(self) -> None:
        """Where to train: the menu, preflight, agreement, several replicas."""
        from workbench.core.projects.project import Choice  # noqa: PLC0415
        from workbench.preflight.compiler_environment import CompilerEnvironment  # noqa: PLC0415
        from workbench.templates import find_template  # noqa: PLC0415

        window, document = self._window, self._window.context.document
        document.new(find_template("fashion_convnet").project)
        view = window.show_view("train")
        os.environ["COLAB_TPU_ADDR"] = "10.0.0.2:8470"
        menu = window.top.targets
        menu.aboutToShow.emit()
        self._parts("target_menu", menu)
        del os.environ["COLAB_TPU_ADDR"]
        document.set_recipe(batch_size=1_024)
        document.set_target(Choice("virtual", {"replicas": 8}))
        view.panels["train_recipe"].ensurePolished()
        pause(1_000)
        self._both("replicas")
        document.set_target(Choice("tpu", {"address": "local"}))
        pause(1_500)
        self._both("no_tpu")
        document.set_target(Choice("this_computer"))
        document.new(find_template("cifar10_convnet").project)
        window.show_view("design")
        window.places.ask("preflight")
        preflight = window.places.dialogs["preflight"]
        wait(lambda: not preflight.is_looking, 900)
        self._parts("preflight", preflight)
        if CompilerEnvironment().is_installed():
            preflight.start(sweep=True)
            wait(lambda: not preflight.is_looking, 1_800)
            self._parts("preflight_sweep", preflight)
        preflight.reject()
        document.new(find_template("fashion_convnet").project)
        window.places.ask("agreement")
        agreement = window.places.dialogs["agreement"]
        self._parts("agreement_asked", agreement)
        agreement.steps.set_value(20)
        agreement.start.click()
        wait(agreement.words.text, 900)
        self._parts("agreement", agreement)
        agreement.reject()

    def far(self) -> None:
        """Another computer: connecting it, training there, the line lost."""
        from tests.sshd import Sshd, why_not  # noqa: PLC0415
        from workbench.templates import find_template  # noqa: PLC0415

        if reason := why_not():
            print(f"Not photographed: another computer ({reason}).", file=sys.stderr)
            return
        window, document = self._window, self._window.context.document
        document.new(find_template("fashion_convnet").project)
        document.set_recipe(epochs=400, batch_size=250, steps_per_epoch=8)
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="workbench-far-"))
            server = stack.enter_context(Sshd(Path(folder) / "sshd"))
            self._connect(server)
            library, before = window.context.library, window.context.library.current
            window.show_view("train")
            window.top.train.click()
            wait(lambda: library.current is not before, 60)
            self._both("remote_setting_up")
            wait(lambda: len(library.current.history.epochs) > 5, 300)
            self._both("remote")
            server.stop()
            wait(lambda: library.current.outcome.kind == "silent", 120)
            pause(6_000)
            self._both("line_lost")
            server.start()
            wait(lambda: library.current.outcome.kind == "running", 120)
            library.stop()
            wait(lambda: library.current.is_over, 120)
            self._both("remote_stopped")

    def _connect(self, server) -> None:  # noqa: ANN001 - imported late
        """Goes through the pages of the dialog."""
        from workbench.gui.kit.widgets import CollapsibleSection  # noqa: PLC0415

        self._window.places.ask("connect")
        dialog = self._window.places.dialogs["connect"]
        self._parts("connect_empty", dialog)
        page = dialog.address
        for fold in page.findChildren(CollapsibleSection):
            fold.head.setChecked(True)
        page.address.setText("student@tpu-vm")  # no picture shows the paths of this computer
        page.key_file.setText("~/.ssh/id_ed25519")
        page.python.setText("python3.11")
        self._parts("connect_address", dialog)
        page.address.setText(f"{server.user}@{server.address}:{server.port}")
        page.key_file.setText(str(server.key_file))
        page.python.setText(sys.executable)
        for name in ("identity", "found"):
            dialog.next.click()
            wait(lambda name=name: dialog.pages.currentWidget() is getattr(dialog, name), 60)
            wait(dialog.next.isEnabled, 60)
            self._parts(f"connect_{name}", dialog)
        dialog.next.click()

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
    main(Path(sys.argv[1]), sys.argv[2:] or PARTS)
