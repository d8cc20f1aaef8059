"""Connects another computer: which one, is it the right one, what it has, making it ready."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.client.host_jobs import FoundHost, HostJobs, Identity
from workbench.errors import WorkbenchError
from workbench.gui.kit.buttons import button
from workbench.gui.kit.dialog_head import DialogHead
from workbench.gui.kit.working_dialog import WorkingDialog
from workbench.gui.targets.connect_pages import AddressPage, FoundPage, IdentityPage
from workbench.remote.ssh.gcloud import place_from_gcloud
from workbench.remote.ssh.host import RemoteHost
from workbench.remote.ssh.host_keys import accept

T = TypeVar("T")

SIZE = QSize(640, 560)
_PROGRESS_STEPS = 1000
_EXPLANATION = (
    "A TPU VM, a computer with GPUs, or any other Linux computer you reach over SSH. "
    "Training continues there when this window is closed or the connection is lost. "
    "Login uses your SSH keys; passwords are neither asked for nor stored."
)


class ConnectHostDialog(WorkingDialog):
    """Three pages, one after another; nothing is sent before the second was accepted.

    Signals:
        chosen: The Choice to train there.
        help_asked: Key of a help page.
    """

    help_asked = Signal(str)
    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None, address: str = "") -> None:
        super().__init__("Connect a TPU or another computer", parent)
        self.resize(SIZE.boundedTo(self.screen().availableSize()))
        self._can_go = True
        self._focus: QWidget | None = None
        self._forward: Callable[[], None] = self._ask_identity
        self._make_ready: Callable[[], None] = self._ask_identity
        self._jobs = HostJobs(self)
        self._jobs.told.connect(self._on_told)
        self.address = AddressPage(address)
        self.identity = IdentityPage()
        self.found = FoundPage()
        self.pages = QStackedWidget()
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.back = button("Back")
        self.next = button("Connect", role="primary")
        self.set_up = button("Set up", role="primary")
        self.head = DialogHead("Connect a TPU or another computer", _EXPLANATION, "remote")
        self.head.help_asked.connect(self.help_asked)
        self._build()
        self._connect()
        self._show_address()

    def _build(self) -> None:
        for page in (self.address, self.identity, self.found):
            self.pages.addWidget(page)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.back)
        buttons.addStretch(1)
        for part in (self.set_up, self.next, self.stop):
            buttons.addWidget(part)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(12)
        column.addWidget(self.head)
        scroll = QScrollArea()  # a long refusal below takes room from the pages
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(self.pages)
        column.addWidget(scroll, 1)
        column.addWidget(self.progress)
        column.addWidget(self.status)
        column.addLayout(buttons)
        self.address.address.setFocus()

    def _connect(self) -> None:
        self.address.ready_changed.connect(self._refresh)
        self.address.help_asked.connect(self.help_asked)
        self.address.submitted.connect(self._on_next)
        self.address.gcloud_wanted.connect(self._on_gcloud)
        self.back.clicked.connect(self._show_address)
        self.next.clicked.connect(self._on_next)
        self.set_up.clicked.connect(self._on_set_up)

    # what is shown -------------------------------------------------------------------

    def _show(
        self, page: QWidget, words: str, forward: Callable[[], None], *, can_go: bool = True
    ) -> None:
        """Shows a page, and what its button does."""
        self._forward, self._can_go = forward, can_go
        self.next.setText(words)
        for each in (self.address, self.identity, self.found):  # room for this one alone
            fits = QSizePolicy.Policy.Preferred if each is page else QSizePolicy.Policy.Ignored
            each.setSizePolicy(QSizePolicy.Policy.Preferred, fits)
        self.pages.setCurrentWidget(page)
        self._refresh()

    def _show_address(self) -> None:
        self._show(self.address, "Connect", self._ask_identity)

    def _refresh(self) -> None:
        page, is_busy = self.pages.currentWidget(), self._background.is_busy
        can_go = self.address.is_ready() if page is self.address else self._can_go
        self.next.setEnabled(can_go and not is_busy)
        self.next.setVisible(can_go or page is self.address)
        self.set_up.setVisible(page is self.found and not self._can_go)
        self.set_up.setEnabled(not is_busy)
        self.back.setVisible(page is not self.address)
        self.back.setEnabled(not is_busy)
        self.pages.setEnabled(not is_busy)
        self.stop.setText("Cancel" if is_busy else "Close")
        self.progress.setVisible(is_busy)

    def _on_told(self, words: str, fraction: float) -> None:
        if self._background.is_busy and not self.is_closing:
            self.status.wait_for(words)
            self.progress.setRange(0, _PROGRESS_STEPS if fraction >= 0 else 0)
            self.progress.setValue(round(max(fraction, 0.0) * _PROGRESS_STEPS))

    # what is done --------------------------------------------------------------------

    def _on_next(self) -> None:
        if self.next.isEnabled():
            self._forward()

    def _ask_identity(self) -> None:
        try:
            place = self.address.place()
        except WorkbenchError as error:
            self.status.say(f"{error.what} {error.fix}", is_bad=True)
            return
        self._run(
            lambda: self._jobs.identity(place),
            lambda identity: self._on_identity(place, identity),
            "Connecting",
        )

    def _on_identity(self, place: RemoteHost, identity: Identity) -> None:
        if identity.is_known:
            self._look(place)
            return
        self.identity.show_keys(place, identity.keys)
        self._show(self.identity, "Trust this host", lambda: self._accept(place, identity))

    def _accept(self, place: RemoteHost, identity: Identity) -> None:
        self._run(
            lambda: accept(place, list(identity.keys)),
            lambda _none: self._look(place),
            "Saving the host key",
        )

    def _look(self, place: RemoteHost) -> None:
        self._run(
            lambda: self._jobs.look(place),
            lambda found: self._on_found(place, found),
            f"Connecting {place.text()}",
        )

    def _on_found(self, place: RemoteHost, found: FoundHost) -> None:
        self.found.show_host(found)
        self._make_ready = lambda: self._set_up(place, found.environment)
        self._show(
            self.found, "Use this computer", lambda: self._choose(place), can_go=found.is_ready
        )

    def _on_set_up(self) -> None:
        self._make_ready()

    def _set_up(self, place: RemoteHost, environment: str) -> None:
        self._run(
            lambda: self._jobs.set_up(place, environment),
            lambda found: self._on_found(place, found),
            "Setting up",
        )

    def _choose(self, place: RemoteHost) -> None:
        self.chosen.emit(self.found.choice(place))
        self.accept()

    def _on_gcloud(self, name: str, zone: str, project: str) -> None:
        self._run(
            lambda: place_from_gcloud(name, zone, project), self.address.fill, "Running gcloud"
        )

    def _run(self, work: Callable[[], T], on_done: Callable[[T], None], words: str) -> None:
        self._jobs.begin()
        self._focus = self.focusWidget()  # lost while its page is disabled
        self._background.run(work, lambda result: self._on_done(on_done, result), self._on_failed)
        self.status.wait_for(words)
        self.progress.setRange(0, 0)
        self._refresh()

    def _on_done(self, on_done: Callable[[T], None], result: T) -> None:
        self.status.say("")
        if self.close_if_asked():
            return
        on_done(result)
        self._refresh()

    def _on_failed(self, error: WorkbenchError) -> None:
        self.status.say(" ".join(str(error).split()), is_bad=True)
        self._refresh()
        if self._focus is not None:
            self._focus.setFocus()
        self.close_if_asked()

    def call_off(self) -> None:
        self._jobs.call_off()
