"""Somebody without a strong computer trains on another one: connects it, watches the curve, sees
the line lost and back, closes the window and opens it again, stops, classifies a picture here.
Then that computer is gone for good, and the run goes on at this one.

Run by test_far_away.py; `python -m tests.end2end.far_away [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from PySide6.QtWidgets import QApplication, QMenu

from tests.end2end.robot import center
from tests.end2end.user import User, at_the_window
from tests.sshd import Sshd
from workbench.app import close_context, make_context, make_window
from workbench.assets import sample_paths
from workbench.gui.kit.widgets import CollapsibleSection
from workbench.gui.shell.main_window import MainWindow
from workbench.runs.home import data_home
from workbench.runs.log.event_log import read_all
from workbench.runs.store.checkpoint import newest_state
from workbench.templates import find_template

_SLOW_S = 240


class Borrower(User):
    """Trains on a computer of somebody else.

    Args:
        window: The window.
        shots: Where pictures of it are kept, if anywhere.
        server: The ssh server of the other computer.
    """

    def __init__(self, window: MainWindow, shots: Path | None, server: Sshd) -> None:
        super().__init__(window, shots)
        self.server = server
        self.library = window.context.library

    def connect(self) -> str:
        """Goes through the dialog; returns the fingerprint that it showed."""
        self.new_project()
        self.robot.wait(self.window.top.isVisible, "the bar")
        self.window.actions_by_key["connect"].trigger()
        dialog = self.window.places.dialogs["connect"]
        self.robot.focus(dialog)
        page = dialog.address
        fold = page.findChildren(CollapsibleSection)[0]
        self.press(fold.head)
        for line, text in (
            (page.address, f"{self.server.user}@{self.server.address}:{self.server.port}"),
            (page.key_file, str(self.server.key_file)),
            (page.python, sys.executable),
        ):
            self.robot.click(center(line))
            self.robot.write(text)
        self.shot("address", dialog)
        self.press(dialog.next)
        self._wait_for_page(dialog, dialog.identity)
        shown = dialog.identity.prints.text()
        self.shot("identity", dialog)
        self.press(dialog.next)
        self._wait_for_page(dialog, dialog.found)
        self.shot("found", dialog)
        self.press(dialog.next)
        self.robot.wait(lambda: not self.window.places.dialogs, "the dialog closed")
        self.robot.focus(self.window)
        return shown

    def new_project(self) -> None:
        """Opens the Fashion-MNIST template, for a training that takes its time."""
        self.window.files.new(find_template("fashion_convnet").project)
        self.document.set_recipe(epochs=400, batch_size=20, steps_per_epoch=6)

    def open_running(self) -> None:
        """Opens the project of what trains, by its link on the start page."""
        page = self.window.views.currentWidget()
        self.robot.wait(page._running.isVisible, "the run on the start page")
        page.ensureWidgetVisible(page._running)
        self.press(page._running)
        self.robot.wait(lambda: self.window.views.current_key == "train", "Train view")

    def choose_saved(self) -> None:
        """Takes the other computer out of the menu of places."""
        menu = self.window.top.targets

        def click(_menu: QMenu) -> None:
            line = next(a for a in menu.actions() if self.server.address in a.text())
            self.shot("targets", menu)
            self.robot.click(menu.mapToGlobal(menu.actionGeometry(line).center()))

        self.robot.while_open(
            QApplication.activePopupWidget,
            click,
            opening=lambda: self.robot.click(center(self.window.top.target)),
        )
        self.robot.wait(lambda: self.document.project.target.key == "ssh", "the place chosen")

    def train(self) -> None:
        """Presses Train, and waits until there is a curve."""
        self.press(self.window.top.train)
        self.robot.wait(lambda: self.library.current is not None, "a run")
        self.shot("setting_up")
        self.wait_for_steps(10)
        self.shot("training")

    def wait_for_steps(self, count: int) -> None:
        """Waits until the window has so many steps."""
        self.robot.wait(lambda: self.num_steps() >= count, f"{count} steps", timeout_s=_SLOW_S)

    def num_steps(self) -> int:
        """Steps of the current run that the window has."""
        current = self.library.current
        return len(current.history.steps) if current is not None and current.is_loaded else 0

    def is_whole(self) -> bool:
        """Whether each step is known once."""
        steps = list(self.library.current.history.steps)
        return steps == list(range(1, len(steps) + 1))

    def lose_the_line(self) -> dict[str, object]:
        """The server goes away and comes back; returns what the window said meanwhile."""
        view = self.window.views.currentWidget()
        self.server.stop()
        self._wait_for_outcome("silent")
        self.robot.wait(lambda: "reconnecting in" in view.trouble.words.text(), "the next try")
        self.robot.wait(lambda: view.header.headline.text().startswith("Connection lost"), "words")
        said = {
            "words": view.trouble.words.text(),
            "look": view.trouble.property("role"),
            "can_end": view.trouble.end.isVisible(),
        }
        self.shot("line_lost")
        before = self.num_steps()
        self.server.start()
        self._wait_for_outcome("running")
        self.wait_for_steps(before + 10)
        self.robot.wait(view.trouble.isHidden, "no problem to be shown")
        return said

    def stop(self) -> str:
        """Presses Stop; returns how the run ended."""
        self.press(self.window.top.train)
        self.robot.wait(lambda: self.library.current.is_over, "the end", timeout_s=_SLOW_S)
        return self.library.current.outcome.kind

    def classify(self) -> str:
        """Shows the network a picture; returns what it says."""
        picture = next(path for path in sample_paths())
        self.window.classify([str(picture)])
        card = self.window.views.currentWidget().panels["classify_result"]
        self.robot.wait(lambda: card.entry is not None, "an answer", timeout_s=_SLOW_S)
        self.shot("classified")
        return str(card.entry.answer.label)

    def lose_the_computer(self) -> int:
        """Trains there again until a checkpoint is here; then that computer is replaced: its
        trainer and its files are gone, and it has another identity. Returns the step kept.
        """
        self.robot.key("ctrl+3")
        self.robot.wait(lambda: self.window.top.train.text() == "Train", "the button")
        self.choose_saved()
        before = self.library.current
        self.press(self.window.top.train)
        self.robot.wait(lambda: self.library.current is not before, "another run")
        run = self.library.current.run
        self.robot.wait(
            lambda: newest_state(run) is not None, "a checkpoint here", timeout_s=_SLOW_S
        )
        self.server.stop()
        os.kill(self.library.current.history.started.pid, signal.SIGKILL)
        shutil.rmtree(self.server.home / ".workbench")
        self.server.new_host_key()
        self.server.start()
        self._wait_for_outcome("away")
        return newest_state(run).step

    def go_on_here(self) -> dict[str, object]:
        """Presses "Go on here"; returns what was said, from where it went on, and where."""
        view = self.window.views.currentWidget()
        words = view.trouble.words.text()
        self.shot("gone")
        self.press(view.trouble.go_on)
        self.robot.wait(
            lambda: self.library.current.history.started.resumed_at_step is not None,
            "the run here",
            timeout_s=_SLOW_S,
        )
        started = self.library.current.history.started
        self.wait_for_steps(started.resumed_at_step + 3)
        self.shot("here")
        self.stop()
        return {
            "words": words,
            "from": started.resumed_at_step,
            "on": started.on,
            "is_whole": self.is_whole(),
        }

    def _wait_for_page(self, dialog, page) -> None:
        self.robot.wait(
            lambda: dialog.pages.currentWidget() is page and dialog.next.isEnabled(),
            type(page).__name__,
        )

    def _wait_for_outcome(self, *kinds: str) -> None:
        self.robot.wait(
            lambda: (
                self.library.current.outcome is not None
                and self.library.current.outcome.kind in kinds
            ),
            " or ".join(kinds),
            timeout_s=_SLOW_S,
        )


def _another_window(user: Borrower, shots: Path | None) -> Borrower:
    """Closes the window while the other computer trains, and opens one as a new process does."""
    user.window.hide()
    close_context(user.window.context)
    context = make_context(data_home())
    window = make_window(context, data_home())
    window.setGeometry(0, 0, 1440, 840)
    window.show()
    context.library.open()
    found = Borrower(window, shots, user.server)
    found.robot.focus(window)
    found.open_running()
    return found


def _evening(window: MainWindow, shots: Path | None, server: Sshd) -> dict[str, object]:
    user = Borrower(window, shots, server)
    seen: dict[str, object] = {"fingerprint": user.connect()}
    user.train()
    seen["lost"] = user.lose_the_line()
    before = user.num_steps()
    user = _another_window(user, shots)
    user.wait_for_steps(before + 10)
    seen["is_whole"] = user.is_whole()
    user.shot("opened_again")
    seen["ended"] = user.stop()
    log = user.library.current.run.events_path
    seen["numbers"] = [event.seq for event in read_all(log)]
    seen["label"] = user.classify()
    seen["classes"] = list(user.library.current.run.model_card().class_names)
    seen["kept"] = user.lose_the_computer()
    seen["here"] = user.go_on_here()
    return seen


def _act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder, Sshd(Path(folder) / "sshd") as server:
        return {"real": server.fingerprint, **_evening(window, shots, server)}


if __name__ == "__main__":
    at_the_window(_act, sys.argv[1:])
