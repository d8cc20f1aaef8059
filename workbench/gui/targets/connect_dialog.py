"""Connects another computer: which one, is it the right one, what it has, making it ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QLineEdit, QStackedWidget, QWidget

from workbench.client.host_jobs import FoundHost, HostJobs, Identity
from workbench.core.format import bytes_text, count
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import target_of_other_form
from workbench.core.specs import TargetSpec
from workbench.errors import WorkbenchError
from workbench.gui.kit.buttons import ElidedComboBox, button
from workbench.gui.kit.dialogs import DialogHead, T, WorkingDialog, ask_file, start_folder
from workbench.gui.kit.labels import plain_label, set_role
from workbench.gui.kit.layout import STRETCH, add_to, column, row, scroll_area
from workbench.gui.kit.theme import mono_font
from workbench.gui.kit.widgets import CollapsibleSection, FactRows, SteadyBar
from workbench.remote.setup import NEEDED_BYTES
from workbench.remote.ssh.command import RemoteHost
from workbench.remote.ssh.gcloud import NO_FIRST_CHECK, place_from_gcloud
from workbench.remote.ssh.host_keys import HostKey, accept
from workbench.remote.ssh.saved_hosts import INNER_TARGETS, choice_at, find_host
from workbench.targets import all_targets
from workbench.targets.ssh import SPEC as SSH

# connect pages -------------------------------------------------------------------------------
# The pages of connecting another computer: its address, its identity, what it has.

_NAMES_PX = 96
"""All names of the fields are as wide, so that the fields of all forms are in one line."""

_KEY_FILE = "key_file"
"""The kind of dialog that asks for a key."""

_NOT_VERIFIED = (
    "Not verified yet. Compare the fingerprint with the one from the computer's owner or the "
    "cloud console, to rule out a man-in-the-middle attack. Trust this host only if they match; "
    "any other key is refused from then on."
)


def _form(*fields: tuple[str, QWidget]) -> QFormLayout:
    form = QFormLayout()
    form.setHorizontalSpacing(12)
    form.setVerticalSpacing(8)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
    for text, field in fields:
        name = plain_label(text, role="dim")
        name.setMinimumWidth(_NAMES_PX)
        form.addRow(name, field)
    return form


def _line(placeholder: str, name: str) -> QLineEdit:
    line = QLineEdit()
    line.setPlaceholderText(placeholder)
    line.setAccessibleName(name)
    return line


class AddressPage(QWidget):
    """Page for the address of a computer: typed, or looked up with Google's own program.

    Signals:
        ready_changed: Whether there is an address to connect may have changed.
        submitted: Enter was pressed.
        help_asked: Key of a help page.
        gcloud_wanted: Name, zone and project of a TPU VM whose address is to be looked up.
    """

    ready_changed = Signal()
    submitted = Signal()
    help_asked = Signal(str)
    gcloud_wanted = Signal(str, str, str)

    def __init__(self) -> None:
        super().__init__()
        self.address = _line("user@10.0.0.5, or a host of your SSH configuration", "Address")
        self.key_file = _line("default SSH key", "Key file")
        self.browse = button("Browse…")
        self.browse.setAutoDefault(False)
        self.browse.setAccessibleName("Browse for key file")
        self.python = _line("set up automatically", "Python")
        self.home = _line("~/.workbench", "Folder")
        self.name = _line("my-tpu", "Name of the TPU VM")
        self.zone = _line("us-central1-a", "Zone")
        self.project = _line("gcloud default", "Project")
        self.cloud = CollapsibleSection("Google Cloud TPU VM")
        self.ask = button("Look up address")
        self.ask.setEnabled(False)
        self.notebook = button("train with a notebook", role="link")
        self.notebook.setAutoDefault(False)
        self._build()
        self._connect()

    def _build(self) -> None:
        where = _form(("Address", self.address))
        self.more = CollapsibleSection("Advanced")
        key_file = QWidget()
        row((self.key_file, 1), self.browse, parent=key_file, spacing=6)
        self.more.body.addLayout(
            _form(("Key file", key_file), ("Python", self.python), ("Folder", self.home))
        )
        named = _form(("Name", self.name), ("Zone", self.zone), ("Project", self.project))
        hint = plain_label(NO_FIRST_CHECK, role="dim", wrap=True)
        add_to(self.cloud.body, hint, named, row(self.ask, STRETCH))
        no_ssh = plain_label("Colab and Kaggle have no SSH access:", role="dim")
        notebook = row(no_ssh, self.notebook, STRETCH)
        column(where, self.more, self.cloud, STRETCH, notebook, parent=self, spacing=12)

    def _connect(self) -> None:
        self.browse.clicked.connect(lambda _=False: self._ask_key_file())
        self.notebook.clicked.connect(lambda: self.help_asked.emit("notebook"))
        self.address.textChanged.connect(self.ready_changed)
        self.address.returnPressed.connect(self.submitted)
        self.name.textChanged.connect(lambda text: self.ask.setEnabled(bool(text.strip())))
        self.ask.clicked.connect(
            lambda: self.gcloud_wanted.emit(
                self.name.text().strip(), self.zone.text().strip(), self.project.text().strip()
            )
        )

    def _ask_key_file(self) -> None:
        keys = Path.home() / ".ssh"  # where ssh-keygen puts them; file dialogs hide it
        at_first = str(keys) if keys.is_dir() else ""
        start = self.key_file.text().strip() or start_folder(self, _KEY_FILE, at_first)
        title = "Choose a private key"
        path = ask_file(self, title, "All files (*)", kind=_KEY_FILE, start=start)
        if path:
            self.key_file.setText(path)

    def is_ready(self) -> bool:
        """Whether something is typed."""
        return bool(self.address.text().strip())

    def old_address(self) -> Choice | None:
        """What is typed as a target, where it has a form of old tutorials; raises UsageError."""
        return target_of_other_form(self.address.text(), all_targets())

    def place(self) -> RemoteHost:
        """What is typed; what is left open is as it was saved for that address.

        Raises:
            UsageError: a part is not allowed.
        """
        address = self.address.text().strip()
        params, saved = SSH.read(address), find_host(address)
        place = RemoteHost(host=params["host"], user=params["user"], port=params["port"])
        known = saved.place() if saved is not None else place
        return replace(
            place,
            key_file=self.key_file.text().strip() or known.key_file,
            python=self.python.text().strip() or known.python,
            home=self.home.text().strip() or known.home,
        )

    def show_machine(self, name: str, zone: str, project: str) -> None:
        """Names a TPU VM: its address is what is missing."""
        self.cloud.head.setChecked(True)
        self.name.setText(name)
        self.zone.setText(zone)
        self.project.setText(project)

    def fill(self, place: RemoteHost) -> None:
        """Shows what gcloud has returned."""
        self.address.setText(place.text())
        self.key_file.setText(place.key_file)


class IdentityPage(QWidget):
    """The fingerprints that answer at an address for the first time."""

    def __init__(self) -> None:
        super().__init__()
        self.title = plain_label(role="strong", wrap=True)
        self.prints = plain_label(wrap=True)
        self.prints.setFont(mono_font(13))
        self.prints.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.prints.setAccessibleName("Fingerprints")
        words = plain_label(_NOT_VERIFIED, role="dim", wrap=True)
        parts = (self.title, self.prints, words, STRETCH)
        column(*parts, parent=self, margins=(0, 8, 0, 0), spacing=12)

    def show_keys(self, place: RemoteHost, keys: Sequence[HostKey]) -> None:
        """Shows what answers there."""
        self.title.setText(f"Host key fingerprint of {place.text()}:")
        self.prints.setText("\n".join(f"{key.fingerprint}  ({key.kind})" for key in keys))


class FoundPage(QWidget):
    """What the other computer has, and whether it is ready to train."""

    def __init__(self) -> None:
        super().__init__()
        self.title = plain_label(role="strong", wrap=True)
        self.facts = FactRows()
        self.state = plain_label(wrap=True)
        self.inner = ElidedComboBox()
        self.inner.setAccessibleName("Target")
        parts = (self.title, self.facts, _form(("Target", self.inner)), self.state, STRETCH)
        column(*parts, parent=self, margins=(0, 8, 0, 0), spacing=12)

    def show_host(self, found: FoundHost) -> None:
        """Shows what was found."""
        self.title.setText(f"{found.host.address}: {found.host.words}")
        self.facts.set_facts(_facts(found.facts))
        self.inner.clear()
        cpu = "CPU only, no TPU or GPU found" if found.environment == "worker" else "CPU only"
        for environment in dict.fromkeys((found.environment, "worker")):
            text = INNER_TARGETS[environment]
            spec: TargetSpec = all_targets()[text.partition(":")[0]]
            title = cpu if environment == "worker" else spec.title
            self.inner.addItem(title, text)
        ready = "Ready to train."
        size = bytes_text(NEEDED_BYTES[found.environment])
        missing = (
            f"Not set up yet. Installs pinned packages into {found.host.home} ({size}, a few "
            "minutes). Nothing else is changed."
        )
        self.state.setText(ready if found.is_ready else missing)
        set_role(self.state, "good" if found.is_ready else "text")

    def choice(self, place: RemoteHost) -> Choice:
        """The target to train on."""
        return choice_at(place, str(self.inner.currentData()))


def _facts(facts: Any) -> list[tuple[str, str]]:
    """What a probe has found, as rows."""
    pythons = [p for p in facts.get("pythons") or () if isinstance(p, dict)]
    versions = dict.fromkeys(".".join(map(str, p.get("version", [])[:2])) for p in pythons)
    rows = [("System", str(facts.get("system", ""))), ("Python", ", ".join(versions))]
    if isinstance(free := facts.get("free_bytes"), int):
        rows.append(("Free disk space", bytes_text(free)))
    if isinstance(cores := facts.get("cores"), int):
        rows.append(("Cores", count(cores)))
    if chips := facts.get("chips"):
        rows.append(("TPU chips", count(len(chips))))
    if gpus := facts.get("gpus"):
        rows.append(("GPUs", ", ".join(map(str, gpus))))
    return [(name, value) for name, value in rows if value]


# connect dialog ------------------------------------------------------------------------------

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
