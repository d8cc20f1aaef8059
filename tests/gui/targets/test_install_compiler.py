"""Installing Google's compiler in the window: called off while it is downloaded."""

from __future__ import annotations

import threading

import pytest

from workbench.gui.targets.install_compiler_dialog import InstallCompilerDialog
from workbench.preflight.compiler_environment import CompilerEnvironment


class Slow(CompilerEnvironment):
    """Downloads nothing, and not before it is told to; asks in the end, or never again."""

    def __init__(self, home, *, asks):
        super().__init__(home)
        self.begun, self.go_on, self._asks = threading.Event(), threading.Event(), asks

    def why_not(self):
        return ""

    def download(self, *, on_progress, check):
        on_progress("Downloading")
        self.begun.set()
        self.go_on.wait(30)
        if self._asks:
            check()


@pytest.mark.parametrize("asks", [True, False])
def test_closing_while_it_downloads_closes_when_that_has_ended(qtbot, qapp, tmp_path, asks):
    environment = Slow(tmp_path, asks=asks)
    dialog = InstallCompilerDialog(environment=environment)
    ended = []
    dialog.finished.connect(ended.append)
    dialog.show()
    dialog.next.click()
    qtbot.waitUntil(environment.begun.is_set)
    dialog.stop.click()
    assert ended == []
    environment.go_on.set()
    qtbot.waitUntil(lambda: bool(ended))
