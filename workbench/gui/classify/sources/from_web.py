"""Images at web addresses, downloaded one after the other by the service worker."""

from __future__ import annotations

import urllib.parse
from collections import deque

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from workbench.client.service_process import Handlers, Question
from workbench.core.format import plural
from workbench.downloads.download import host_of, is_web_address
from workbench.errors import UsageError, WorkbenchError
from workbench.gui.classify.picture_source import PictureSource, SourceSpec
from workbench.gui.classify.state import ClassifyState
from workbench.gui.kit.dialogs import ask_choice, ask_text
from workbench.protocol.classify import FetchPicture
from workbench.protocol.messages import Done

MOST_AT_ONCE = 20
_KEY = "from_web"
_SHOWN = 200


class WebAddress(PictureSource):
    """Downloads what the user has typed; what was pasted or dropped once the user agrees."""

    def __init__(self, state: ClassifyState, owner: QWidget) -> None:
        super().__init__(state, owner)
        self._waiting: deque[str] = deque()
        self._question = Question(state.context.service)

    def begin(self) -> None:
        text = QGuiApplication.clipboard().text().strip()
        start = text if is_web_address(text) else "https://"
        typed = ask_text(
            self.owner, "Image at a web address — Workbench", "Address of an image:", start
        )
        if typed is None:
            return
        text = typed
        if is_web_address(text.strip()):
            self._add([text.strip()])
            return
        what = "This is not a web address that can be downloaded."
        expected = "http:// or https://, without a user name"
        error = UsageError(what, where=text.strip()[:_SHOWN], expected=expected)
        self.state.failed.emit(error)

    def take_addresses(self, addresses: list[str]) -> None:
        addresses = list(dict.fromkeys(addresses))
        if len(addresses) > MOST_AT_ONCE:
            received, expected = f"{len(addresses):,}", f"at most {MOST_AT_ONCE}"
            what = "These are too many web addresses at once."
            self.state.failed.emit(UsageError(what, received=received, expected=expected))
            return
        hosts = list(dict.fromkeys(map(host_of, addresses)))
        where = hosts[0] if len(hosts) == 1 else plural(len(hosts), "server")
        more = "\n".join(address[:_SHOWN] for address in addresses[:5])
        images = "The image is" if len(addresses) == 1 else f"{len(addresses)} images are"
        choices = (f"Download from {where}", "Cancel")
        more = f"{images} downloaded from there:\n{more}"
        if ask_choice(self.owner, f"Connect to {where}?", more, choices, default=1) == 0:
            self._add(addresses)

    def close(self) -> None:
        self._waiting.clear()
        self._question.drop()

    def _add(self, addresses: list[str]) -> None:
        self._waiting += addresses
        if not self._question.is_open:
            self.state.activities.begin(_KEY, "Cancel download", self._cancel)
            self._next()

    def _next(self) -> None:
        if not self._waiting:
            self.state.activities.end(_KEY)
            return
        address = self._waiting.popleft()
        path = self.state.new_file("downloaded")
        handlers = Handlers(
            on_done=lambda done: self._on_done(address, done),
            on_failed=self._on_failed,
            on_progress=lambda progress: self._say(progress.text),
        )
        self._say(f"Connecting to {host_of(address)}")
        self._question.ask(FetchPicture(id=0, address=address, path=path), handlers)

    def _say(self, words: str) -> None:
        rest = f"; {plural(len(self._waiting), 'more image')}" if self._waiting else ""
        self.state.waiting.emit(f"{words}{rest}")

    def _on_done(self, address: str, done: Done) -> None:
        self.state.said.emit("")
        self.state.classify_as(done.path, _name(address))
        self._next()

    def _on_failed(self, error: WorkbenchError) -> None:
        self._next()
        self.state.failed.emit(error)

    def _cancel(self) -> None:
        self.close()
        self.state.activities.end(_KEY)
        self.state.said.emit("The download was canceled.")


def _name(address: str) -> str:
    """What an image is called: the last part of its address, and where it came from."""
    last = urllib.parse.unquote(urllib.parse.urlsplit(address).path.rstrip("/").rsplit("/", 1)[-1])
    name = last if last.isprintable() else ""
    return " · ".join(filter(None, (name[-80:], host_of(address))))


SPEC = SourceSpec(
    key="from_web",
    text="Web address…",
    tip="Downloads an image and classifies it",
    order=50,
    make=WebAddress,
)
