"""Connects another computer: which one, is it the right one, what it has, making it ready."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from workbench.client.host_jobs import FoundHost, HostJobs, Identity
from workbench.errors import WorkbenchError
from workbench.gui.kit.buttons import button
from workbench.gui.kit.dialog_head import DialogHead
from workbench.gui.kit.layout import STRETCH, row, scroll_area
from workbench.gui.kit.wait_label import SteadyBar
from workbench.gui.kit.working_dialog import T, WorkingDialog
from workbench.gui.targets.connect_pages import AddressPage, FoundPage, IdentityPage
from workbench.remote.ssh.gcloud import place_from_gcloud
from workbench.remote.ssh.host import RemoteHost
from workbench.remote.ssh.host_keys import accept
from workbench.targets import all_targets

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
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Connect a TPU or another computer", QSize(640, 560), parent)
        self._can_go = True
        self._focus: QWidget | None = None
        self._forward: Callable[[], None] = self._ask_identity
        self._make_ready: Callable[[], None] = self._ask_identity
        self._jobs = HostJobs(self)
        self._jobs.progressed.connect(self._on_progress)
        self.address = AddressPage()
        self.identity = IdentityPage()
        self.found = FoundPage()
        self.pages = QStackedWidget()
        self.progress = SteadyBar()
        self.back = button("Back")
        self.next = button("Connect", role="primary")
        self.set_up = button("Set up", role="primary")
        self.head = DialogHead("Connect a TPU or another computer", _EXPLANATION, "remote")
        self._build()
        self._connect()
        self._show_address()

    def _build(self) -> None:
        for page in (self.identity, self.found):
            page.setParent(self.pages)
            page.hide()
        self.pages.addWidget(self.address)
        pages = scroll_area(self.pages)  # a long refusal below takes room from the pages
        pages.setFrameShape(QFrame.Shape.NoFrame)
        buttons = row(self.back, STRETCH, self.set_up, self.next, self.stop, spacing=8)
        self.lay_out(self.head, (pages, 1), self.progress, self.status, buttons)
        self.address.address.setFocus()

    def _connect(self) -> None:
        self.address.ready_changed.connect(self.refresh)
        self.address.help_asked.connect(self.head.help_asked)
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
        shown = self.pages.currentWidget()
        if shown is not None and shown is not page:  # a stack takes the room of its highest page
            self.pages.removeWidget(shown)
            self.pages.addWidget(page)
        self.refresh()

    def _show_address(self) -> None:
        self._show(self.address, "Connect", self._ask_identity)

    def refresh(self) -> None:
        super().refresh()
        page, is_busy = self.pages.currentWidget(), self._background.is_busy
        can_go = self.address.is_ready() if page is self.address else self._can_go
        self.next.setEnabled(can_go and not is_busy)
        self.next.setVisible(can_go or page is self.address)
        self.set_up.setVisible(page is self.found and not self._can_go)
        self.set_up.setEnabled(not is_busy)
        self.back.setVisible(page is not self.address)
        self.back.setEnabled(not is_busy)
        self.pages.setEnabled(not is_busy)
        self.progress.setVisible(is_busy)

    def _on_progress(self, words: str, fraction: float) -> None:
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
            old = self.address.old_address()
            if old is not None:
                problem = all_targets()[old.key].probe(old.params)
                if problem is not None:
                    raise problem
                return
            place = self.address.place()
        except WorkbenchError as error:
            self.status.say(f"{error.what} {error.fix}", is_bad=True)
            return
        self.run(
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
        self.run(
            lambda: accept(place, list(identity.keys)),
            lambda _none: self._look(place),
            "Saving the host key",
        )

    def _look(self, place: RemoteHost) -> None:
        self.run(
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
        self.run(
            lambda: self._jobs.set_up(place, environment),
            lambda found: self._on_found(place, found),
            "Setting up",
        )

    def _choose(self, place: RemoteHost) -> None:
        self.chosen.emit(self.found.choice(place))
        self.accept()

    def _on_gcloud(self, name: str, zone: str, project: str) -> None:
        self.run(
            lambda: place_from_gcloud(name, zone, project), self.address.fill, "Running gcloud"
        )

    def run(self, work: Callable[[], T], on_done: Callable[[T], None], words: str) -> None:
        self._jobs.begin()
        self._focus = self.focusWidget()  # lost while its page is disabled
        self.progress.setRange(0, 0)
        super().run(work, on_done, words)

    def _on_failed(self, error: WorkbenchError) -> None:
        super()._on_failed(error)
        if self._focus is not None:
            self._focus.setFocus()

    def call_off(self) -> None:
        self._jobs.call_off()
