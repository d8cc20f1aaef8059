"""A watched folder in the window: images as they appear, bursts, and a folder that goes."""

from __future__ import annotations

import shutil

import pytest
from PIL import Image

from tests.gui.views.scripted import cat
from workbench.gui.classify.folder.job import MOST_AT_ONCE
from workbench.gui.classify.sources import watch_folder
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classified, ClassifiedRows, ClassifyMany, ManyClassified
from workbench.protocol.messages import Failed


class Watched:
    """A folder that is watched in the window, and the worker that is asked."""

    def __init__(self, qtbot, view, measurer, folder):
        self.qtbot, self.view, self.measurer, self.folder = qtbot, view, measurer, folder
        panel = view.panels["classify_pictures"]
        self.drop, self.results = panel.drop, panel.results
        view.state.source_chosen.emit("watch_folder")
        qtbot.waitUntil(lambda: view.state._job._watch is not None)

    def put(self, name, data=None):
        path = self.folder / name
        if data is None:
            Image.new("RGB", (6, 4), "red").save(path)
        else:
            path.write_bytes(data)
        return str(path)

    def take(self):
        """The next request, once it has come."""
        self.qtbot.waitUntil(lambda: bool(self.measurer.asked), timeout=20_000)
        request, answer = self.measurer.take(ClassifyMany)
        return [source.path for source in request.sources], request, answer

    def answer_all(self):
        paths, _, answer = self.take()
        answer(ClassifiedRows(id=1, rows=[cat(path) for path in paths]))
        answer(ManyClassified(num_images=len(paths), num_bad=0))
        return paths

    def names(self):
        model = self.results.model
        return [model.index(row, 0).data() for row in range(model.rowCount())]


@pytest.fixture
def watched(qtbot, ready, measurer, tmp_path, monkeypatch):
    folder = tmp_path / "camera"
    (folder / "inner").mkdir(parents=True)
    Image.new("RGB", (6, 4)).save(folder / "old.png")
    monkeypatch.setattr(watch_folder, "ask_folder", lambda *_, **__: str(folder))
    return Watched(qtbot, ready, measurer, folder)


def test_images_are_listed_as_they_appear_until_it_is_stopped(watched, ready):
    assert watched.results.isVisible()
    assert ready.wait.text().startswith("Watching camera for new images; 1 file in it left out")
    first = watched.put("a.png")
    paths, request, answer = watched.take()
    assert paths == [first]
    assert (request.model, request.table) == (str(ready.chooser.path), "")
    answer(ClassifiedRows(id=1, rows=[cat(first)]))
    assert ready.wait.text().startswith("Watching camera: 1 image")
    second = watched.put("inner/b.png")
    assert not watched.measurer.asked  # one request at a time
    answer(ManyClassified(num_images=1, num_bad=0))
    assert watched.answer_all() == [second]
    assert watched.names() == ["a.png", "b.png"]
    assert not watched.results.sort_button.isEnabled()
    watched.drop.stops["listing"].click()
    assert ready.wait.text() == "2 images classified."
    assert not watched.drop.stops
    assert watched.results.sort_button.isEnabled()


def test_the_empty_table_says_what_is_waited_for(watched):
    hint = watched.results.hint
    assert hint.isVisible()
    assert hint.text().startswith("Waiting for new images.")
    watched.put("a.png")
    watched.answer_all()
    assert not hint.isVisible()
    assert watched.results.heading.full_text.endswith("· 1 image")
    watched.drop.stops["listing"].click()


def test_a_half_written_file_has_one_row_once_it_is_complete(watched):
    path = watched.put("slow.png", b"\x89PNG half")
    paths, _, answer = watched.take()
    assert paths == [path]
    cut = Classified(file=path, error=ErrorParts(what="The image file is cut off."))
    answer(ClassifiedRows(id=1, rows=[cut]))
    answer(ManyClassified(num_images=1, num_bad=1))
    assert watched.names() == []
    watched.put("slow.png")
    assert watched.answer_all() == [path]
    assert watched.names() == ["slow.png"]


def test_a_burst_is_classified_in_few_requests_in_order(watched):
    whole = (watched.folder / "old.png").read_bytes()
    names = [f"{number}.png" for number in range(1_000)]
    for name in names:
        watched.put(name, whole)
    sizes = []
    while sum(sizes) < len(names):
        sizes.append(len(watched.answer_all()))
    assert max(sizes) <= MOST_AT_ONCE
    assert sorted(watched.names()) == sorted(names)


def test_a_folder_that_is_removed_ends_it_with_a_message(watched, ready, qtbot):
    watched.put("a.png")
    watched.answer_all()
    shutil.rmtree(watched.folder)
    qtbot.waitUntil(lambda: "folder is gone" in ready.wait.text(), timeout=20_000)
    assert not watched.drop.stops
    assert watched.names() == ["a.png"]
    assert ready.state.folder_reason() == ""


def test_a_worker_that_fails_ends_it(watched, ready):
    watched.put("a.png")
    _, _, answer = watched.take()
    answer(Failed(id=1, error=ErrorParts(what="The worker was killed.")))
    assert ready.wait.text() == "The worker was killed."
    assert not watched.drop.stops


def test_while_a_folder_is_watched_no_other_one_is_begun(watched, ready):
    assert ready.panels["classify_pictures"].sources["folder_table"].reason()
    ready.classify_folder("/x")
    assert ready.wait.text().startswith("A folder is being watched.")


def test_a_missing_folder_is_named(ready, qtbot, tmp_path):
    ready.state.watch_folder(tmp_path / "gone")
    qtbot.waitUntil(lambda: "folder is gone" in ready.wait.text())
    assert ready.state.folder_reason() == ""
