"""Feature maps of a network while it trains, with a real trainer and a real worker."""

from __future__ import annotations

import pytest

from tests.bright_network import bright_picture
from tests.worker.conftest import ENDLESS
from workbench.gui.classify.view import ClassifyView
from workbench.gui.panels import panels_of

pytestmark = pytest.mark.worker

WAIT_MS = 120_000
KEY = "classify_feature_maps"


def test_the_maps_follow_the_saved_epochs_to_the_last_one(qtbot, context, small_project, tmp_path):
    view = ClassifyView(context, panels_of("classify"))
    qtbot.addWidget(view)
    view.resize(1200, 800)
    view.show()
    panel, library = view.panels[KEY], context.library
    view.panels.open(KEY)
    library.open()
    seen: list[tuple[int, str, float]] = []

    def keep(shown):
        if shown.answer.what == "maps":
            strength = sum(channel.strength for channel in shown.answer.channels)
            seen.append((shown.answer.weights.epoch, panel.about.text(), strength))

    panel.requests.loaded.connect(keep)
    layers = ("rescaling", {}), ("conv2d", {"filters": 4})
    project = small_project(*layers, **ENDLESS, learning_rate=1e-4)  # learns to the end
    library.start_run(project, title="Stripes")
    # A run that goes on is used where that is chosen.
    qtbot.waitUntil(lambda: view.empty._usable is not None, timeout=WAIT_MS)
    view.empty.use_pressed.emit(view.empty._usable.path)
    view.classify([bright_picture(tmp_path)])
    # A checkpoint comes every few seconds, whatever the length of an epoch.
    qtbot.waitUntil(lambda: len({epoch for epoch, _, _ in seen}) > 2, timeout=WAIT_MS)
    epochs = [epoch for epoch, _, _ in seen]
    assert epochs == sorted(epochs)
    assert f"last epoch ({epochs[-1]:,})" in seen[-1][1]
    assert "newer ones follow" in seen[-1][1]
    assert len({strength for _, _, strength in seen}) > 2
    with qtbot.waitSignal(library.run_ended, timeout=WAIT_MS):
        library.stop()
    done = library.current.history.finished.epochs_done
    qtbot.waitUntil(lambda: seen[-1][0] == done, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: not panel.requests.is_open, timeout=WAIT_MS)
    view.close_background()
