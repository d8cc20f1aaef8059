"""A classified folder whose answers are of another model than the one that is chosen."""

from __future__ import annotations

import pytest
from PIL import Image

from tests.gui.views.scripted import cat
from workbench.gui.classify.folder import sorter
from workbench.gui.classify.folder.job import FolderTask
from workbench.protocol.classify import ClassifiedRows, ClassifyMany, ManyClassified


class TwoModels:
    """Two runs, of which one has classified a folder with one image."""

    def __init__(self, view, measurer, folder, runs):
        self.view, self.measurer, self.runs = view, measurer, runs
        self.results = view.panels["classify_pictures"].results
        self.line = self.results.other_model
        view.chooser.choose(runs["cifar"])
        self.image = folder / "a.png"
        Image.new("RGB", (6, 4)).save(self.image)
        task = FolderTask(folder, folder / "table.csv", has_class_folders=True)
        view.state.classify_folder(task)
        _, self.answer = measurer.take(ClassifyMany)

    def take(self):
        self.answer(ClassifiedRows(id=1, rows=[cat(self.image)]))
        self.answer(ManyClassified(num_images=1, num_bad=0))

    def choose(self, name):
        self.view.chooser.choose(self.runs[name])


@pytest.fixture
def two(view, measurer, model, open_library, tmp_path):
    runs = {name: model(name).path for name in ("cifar", "dense")}
    open_library()
    folder = tmp_path / "photos"
    folder.mkdir()
    return TwoModels(view, measurer, folder, runs)


def test_the_title_names_the_model_of_the_answers_and_a_line_warns_of_another_one(two):
    two.take()
    assert not two.line.isVisible()
    two.choose("dense")
    assert two.results.heading.full_text == "Predictions of cifar · photos · 1 image"
    assert two.line.isVisible()
    assert two.line.words.text() == ("These are predictions of cifar. The chosen model is dense.")
    two.choose("cifar")
    assert not two.line.isVisible()


def test_a_click_classifies_the_folder_again_with_the_chosen_model(two):
    two.take()
    two.choose("dense")
    assert two.line.button.text() == "Classify again with dense"
    two.line.button.click()
    request, two.answer = two.measurer.take(ClassifyMany)
    assert request.model == str(two.runs["dense"])
    assert [source.path for source in request.sources] == [str(two.image.parent)]
    assert request.has_class_folders
    two.take()
    assert two.results.heading.full_text == "Predictions of dense · photos · 1 image"
    assert not two.line.isVisible()


def test_while_the_folder_is_being_classified_the_line_has_no_button(two):
    two.choose("dense")
    assert two.line.words.text() == (
        "The images are classified with cifar, not with the chosen dense."
    )
    assert not two.line.button.isVisible()
    two.take()
    assert two.line.button.isVisible()


def test_of_a_watched_folder_the_images_listed_are_classified_again(two, qtbot, tmp_path):
    two.take()
    folder = tmp_path / "camera"
    folder.mkdir()
    Image.new("RGB", (6, 4)).save(folder / "old.png")
    two.view.state.watch_folder(folder)
    qtbot.waitUntil(lambda: two.view.state._job._watch is not None)
    two.image = folder / "new.png"
    Image.new("RGB", (6, 4)).save(two.image)
    qtbot.waitUntil(lambda: bool(two.measurer.asked), timeout=20_000)
    _, two.answer = two.measurer.take(ClassifyMany)
    two.take()
    two.view.panels["classify_pictures"].drop.stops["listing"].click()
    two.choose("dense")
    two.line.button.click()
    request, _ = two.measurer.take(ClassifyMany)
    assert [source.path for source in request.sources] == [str(two.image)]
    assert request.model == str(two.runs["dense"])


def test_sorting_names_the_model_whose_answers_it_uses(two, qtbot, monkeypatch, tmp_path):
    two.take()
    two.choose("dense")
    questions = []

    def ask(_widget, what, more, choices):
        questions.append(more)
        return len(choices) - 1

    monkeypatch.setattr(sorter, "ask_folder", lambda *_, **__: str(tmp_path))
    monkeypatch.setattr(sorter, "ask_choice", ask)
    two.results.sort_button.click()
    qtbot.waitUntil(lambda: bool(questions))
    assert questions[0].startswith("Predictions of cifar:")
