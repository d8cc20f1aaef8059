"""The pages of connecting another computer: its address, its identity, what it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QLineEdit, QWidget

from workbench.client.host_jobs import FoundHost
from workbench.core.format import bytes_text, count
from workbench.core.projects.project import Choice
from workbench.core.projects.target_text import target_of_other_form
from workbench.core.specs import TargetSpec
from workbench.gui.kit.buttons import button
from workbench.gui.kit.cards import FactRows
from workbench.gui.kit.collapsible import CollapsibleSection
from workbench.gui.kit.combo import ElidedComboBox
from workbench.gui.kit.file_dialogs import ask_file, start_folder
from workbench.gui.kit.fonts import mono_font
from workbench.gui.kit.labels import plain_label, set_role
from workbench.gui.kit.layout import STRETCH, add_to, column, row
from workbench.remote.setup.setup import NEEDED_BYTES
from workbench.remote.ssh.gcloud import NO_FIRST_CHECK
from workbench.remote.ssh.host import RemoteHost
from workbench.remote.ssh.host_keys import HostKey
from workbench.remote.ssh.saved_hosts import INNER_TARGETS, choice_at, find_host
from workbench.targets import all_targets
from workbench.targets.ssh import SPEC as SSH

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
