"""Pretrained weights that cannot be downloaded, with the real worker: the reason is shown."""

from __future__ import annotations

import pytest

from tests.small_projects import unbundled
from tests.window_parts import window_context
from workbench.backbones import weights_file
from workbench.gui.common.weights import DownloadWeightsDialog
from workbench.runs.home import data_home

pytestmark = pytest.mark.worker

WAIT_MS = 120_000


def test_offline_the_dialog_says_how_to_get_them_by_hand(qapp, qtbot, monkeypatch):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # where nothing listens
    spec = unbundled()
    with window_context(data_home()) as context:
        dialog = DownloadWeightsDialog(spec, context.measurer)
        dialog.show()
        dialog.start.click()
        assert not dialog.start.isEnabled()
        qtbot.waitUntil(dialog.start.isEnabled, timeout=WAIT_MS)
        words = dialog.status.text().replace("\u200b", "")
        assert f"{spec.title} weights could not be downloaded: no connection." in words
        assert "Connect to the internet and try again" in words
        assert not weights_file(spec).exists()
        dialog.stop.click()
