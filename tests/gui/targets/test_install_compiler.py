"""Installing Google's compiler in the window: called off while it is downloaded."""

from __future__ import annotations

import threading

import pytest

from workbench.gui.targets.preflight_dialog import InstallCompilerDialog
from workbench.preflight.compiler_environment import CompilerEnvironment


class Slow(CompilerEnvironment):
    """Downloads nothing, and only until `go_on` is set; checks for cancellation in the end, or never."""

    def __init__(self, home, *, checks):
        super().__init__(home)
        self.begun, self.go_on, self._checks = threading.Event(), threading.Event(), checks

    def why_not(self):
        return ""

    def download(self, *, on_progress, check):
        on_progress("Downloading")
        self.begun.set()
        self.go_on.wait(30)
        if self._checks:
            check()


@pytest.mark.parametrize("checks", [True, False])
def test_closing_while_it_downloads_closes_when_that_has_ended(qtbot, qapp, tmp_path, checks):
    environment = Slow(tmp_path, checks=checks)
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
