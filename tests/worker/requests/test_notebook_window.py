"""The window's way out to a notebook and back, with the real service worker behind it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog

from tests.window_parts import drop_on
from tests.worker.conftest import stripes
from tests.worker.requests.conftest import notebook_project
from workbench.backbones import backbone_keys
from workbench.core.projects.project import Choice, Project
from workbench.gui.common.drops import sort_drop
from workbench.gui.shell import main_window
from workbench.gui.targets import controller as notebook_flow
from workbench.pictures.png import write_png
from workbench.templates import list_templates

pytestmark = pytest.mark.worker

WAIT_MS = 180_000


@pytest.fixture
def shown(monkeypatch):
    """What message boxes would have said: (sentence, more)."""
    messages = []
    monkeypatch.setattr(notebook_flow, "show_notice", lambda _w, *words: messages.append(words))
    monkeypatch.setattr(
        notebook_flow, "show_error", lambda _w, error: messages.append((error.what,))
    )
    monkeypatch.setattr(main_window, "show_error", lambda _w, error: messages.append((error.what,)))
    return messages


def choose(monkeypatch, path, suffix=".ipynb"):
    def choose_path(_parent, _title, _start, filters, *, kind):
        return str(path), next(one for one in filters.split(";;") if suffix in one)

    monkeypatch.setattr(notebook_flow, "ask_save_path", choose_path)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_words: (str(path), ""))


def test_a_notebook_is_written_and_what_to_do_next_is_shown(
    qtbot, window, shown, monkeypatch, tmp_path
):
    (x, y), (x_test, y_test) = stripes(130, 1), stripes(61, 2)
    np.savez(tmp_path / "stripes.npz", x_train=x, y_train=y, x_test=x_test, y_test=y_test)
    window.files.new(notebook_project(tmp_path / "stripes.npz"))
    choose(monkeypatch, tmp_path / "out.ipynb")
    window.actions_by_key["export_notebook"].trigger()
    qtbot.waitUntil(lambda: bool(shown), timeout=WAIT_MS)
    nbformat.validate(nbformat.read(tmp_path / "out.ipynb", as_version=4))
    what, more = shown[0]
    assert what == "Wrote out.ipynb."
    assert f"Take {tmp_path / 'out.images.npz'} along" in more
    assert "118 training, 12 validation and 61 test images of 3 classes" in more
    assert "Import notebook results" in more


@pytest.mark.full
def test_the_weights_that_training_starts_from_are_a_second_file_to_upload(
    qtbot, window, shown, monkeypatch, tmp_path
):
    (template,) = (each for each in list_templates() if backbone_keys(each.project.graph))
    for number in range(20):  # the template's 1,000 photos take their time
        folder = tmp_path / "few" / str(number % 5)
        folder.mkdir(parents=True, exist_ok=True)
        write_png(folder / f"{number}.png", stripes(20, 1)[0][number])
    few = Choice("folder", {"path": str(tmp_path / "few")})
    window.files.new(replace(template.project, dataset=few))
    choose(monkeypatch, tmp_path / "out.ipynb")
    window.actions_by_key["export_notebook"].trigger()
    qtbot.waitUntil(lambda: bool(shown), timeout=WAIT_MS)
    weights = tmp_path / "out.pretrained.weights.h5"
    assert weights.is_file()
    ((_, more),) = shown
    assert f"Take {weights} along, the pretrained weights it starts from." in more


def test_a_network_with_errors_shows_them_instead(window, shown, monkeypatch, tmp_path):
    window.files.new(Project())
    choose(monkeypatch, tmp_path / "out.ipynb")
    window.actions_by_key["export_notebook"].trigger()
    assert window.popup.isVisible()
    assert shown == []
    assert not (tmp_path / "out.ipynb").exists()


def test_results_are_read_back_and_their_curve_is_shown(qtbot, window, shown, monkeypatch, trained):
    some, folder = trained
    window.files.new(some)
    choose(monkeypatch, folder / "workbench_result.zip")
    with qtbot.waitSignal(window.context.weights.result_loaded, timeout=WAIT_MS) as read:
        window.actions_by_key["read_result"].trigger()
    library = window.context.library
    qtbot.waitUntil(
        lambda: library.current is not None and len(library.current.history.epochs) == 2
    )
    assert library.current.run.path == Path(read.args[0])
    assert library.current.history.steps.tolist() == [1, 2, 3, 4]
    assert window.views.current_key == "train"
    assert shown == []


def test_a_dropped_result_of_another_network_is_refused(qtbot, window, shown, trained):
    some, folder = trained
    path = folder / "workbench_result.zip"
    assert sort_drop([str(path)]).kind == "result"
    assert sort_drop([str(folder / "pictures.zip")]).kind == "data_file"
    other = some.graph.without_nodes(["n5"])
    window.files.new(Project(graph=other, dataset=some.dataset))
    assert "results" in drop_on(window, path)
    qtbot.waitUntil(lambda: bool(shown), timeout=WAIT_MS)
    assert shown[0][0].endswith(".")
    assert window.context.library.current is None


def test_an_untrained_network_is_exported_as_python(qtbot, window, shown, monkeypatch, tmp_path):
    window.files.new(notebook_project(tmp_path / "flowers.npz"))
    out = tmp_path / "network.py"
    choose(monkeypatch, out, ".py")
    for key in ("export_network", "export"):
        with qtbot.waitSignal(
            window.notebooks.said, timeout=WAIT_MS, check_params_cb=lambda words: "Wrote" in words
        ):
            window.actions_by_key[key].trigger()
        assert "def build_model():" in out.read_text()
        out.unlink()
    assert shown == []
