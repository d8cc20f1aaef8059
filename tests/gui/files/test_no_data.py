"""A network whose images are not there yet: said before training, with a way to choose them."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPushButton

from tests.small_projects import project_to_download, project_without_folder, unbundled
from workbench.backbones import weights_file
from workbench.core.projects.project import Choice
from workbench.datasets import all_datasets
from workbench.downloads.download import keras_folder
from workbench.gui.common.weights import DownloadWeightsDialog
from workbench.gui.data.source import DataSourcePanel
from workbench.gui.kit import dialogs as file_dialogs
from workbench.pictures.png import write_png
from workbench.templates import find_template, list_templates


@pytest.fixture
def folder(tmp_path):
    """Images of as many classes as the network of `flowers` has outputs."""
    root = tmp_path / "pictures" / "flowers"
    for name in ("daisy", "dandelion", "rose", "sunflower", "tulip"):
        (root / name).mkdir(parents=True)
        write_png(root / name / "0.png", np.full((9, 9, 3), 9, np.uint8))
    return root


@pytest.fixture
def dialogs(monkeypatch):
    """The folders in which dialogs began; each answers with `answer`."""

    class Dialogs(list):
        answer = ""

    began = Dialogs()

    def choose(_parent, _title, start):
        began.append(start)
        return began.answer

    monkeypatch.setattr(file_dialogs, "choose_folder", choose)
    return began


@pytest.fixture
def flowers(window, monkeypatch):
    monkeypatch.setattr(window.views.view("data").state, "describe", lambda: None)
    window.files.new(project_without_folder())
    return window


@pytest.mark.parametrize("how", ["button", "key"])
def test_train_leads_to_the_problem_and_records_no_run(flowers, how, qtbot):
    with qtbot.waitActive(flowers):
        flowers.activateWindow()
    with qtbot.assertNotEmitted(flowers.context.library.run_started, wait=100):
        if how == "key":
            QTest.keyClick(flowers, Qt.Key.Key_F5)
        else:
            QTest.mouseClick(flowers.top.train, Qt.MouseButton.LeftButton)
    assert flowers.popup.isVisible()
    assert not list(flowers.context.library.home.glob("*"))
    assert "choose a folder" in flowers.top.train.toolTip()
    flowers.popup.close()


def test_the_folder_is_chosen_from_the_problem(flowers, folder, dialogs, qtbot):
    dialogs.answer = str(folder)
    flowers.show_problems()
    button = next(
        b for b in flowers.popup.findChildren(QAbstractButton) if "Choose a folder" in b.text()
    )
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(dialogs) == 1)
    assert not flowers.popup.isVisible()
    assert flowers.context.document.project.dataset.params["path"] == str(folder)
    assert flowers.context.document.analysis.is_trainable
    assert flowers.views.current_key == "data"


def test_a_canceled_choice_changes_nothing(flowers, dialogs, qtbot):
    flowers.context.document.apply_fix(flowers.context.document.analysis.errors[0].fixes[0])
    qtbot.waitUntil(lambda: len(dialogs) == 1)
    assert not flowers.context.document.is_dirty
    assert flowers.views.current_key == "design"


def test_dialogs_of_a_kind_begin_where_one_was_used_last(flowers, folder, dialogs, tmp_path, qtbot):
    document = flowers.context.document
    document.save(tmp_path / "flowers.workbench")
    fix = document.analysis.errors[0].fixes[0]
    dialogs.answer = str(folder)
    document.apply_fix(fix)
    qtbot.waitUntil(lambda: len(dialogs) == 1)
    dialogs.answer = ""
    flowers.views.view("welcome")._ask_folder()
    assert dialogs == [str(tmp_path), str(folder.parent)]


def test_another_projects_folder_is_not_taken_over(window, folder, qtbot):
    panel = DataSourcePanel(window.context)
    qtbot.addWidget(panel)
    document = window.context.document
    document.new(project_without_folder())
    panel._on_value_changed("path", str(folder))
    document.new()
    panel._on_source_chosen(panel.sources.findData("folder"))
    assert document.project.dataset.key == "folder"
    assert document.project.dataset.params["path"] == ""
    assert not document.analysis.is_trainable


def test_each_network_says_where_its_images_come_from(window):
    for template in list_templates():
        spec = all_datasets()[template.project.dataset.key]
        needs = "downloads 170 MB" if spec.needs_download else "images included"
        assert template.data_note == needs
    shown = [label.text() for label in window.views.view("welcome").findChildren(QLabel)]
    assert sum("images included" in text.casefold() for text in shown) == 7
    assert sum("downloads 170 MB" in text.casefold().replace("mb", "MB") for text in shown) == 3
    (own,) = (text for text in shown if "needs your images" in text.casefold())
    assert "A network that fits your data" in own


def test_what_was_downloaded_since_is_shown_when_the_page_is(window, qtbot):
    page = window.show_view("welcome")

    def notes(words):
        labels = page.findChildren(QLabel)
        return sum(words in label.text().casefold() for label in labels)

    assert (notes("downloads 170"), notes("downloaded")) == (3, 0)
    (file,) = all_datasets()["cifar10"].downloads
    keras_folder().mkdir(parents=True)
    (keras_folder() / file.kept_name).write_bytes(b"x")
    window.files.new(find_template("lenet5").project)
    window.show_view("design")
    window.show_view("welcome")
    assert (notes("downloads 170"), notes("downloaded")) == (0, 3)


def test_each_card_says_in_what_its_recipe_differs(window):
    page = window.show_view("welcome")
    cards = {card.accessibleName(): card.accessibleDescription() for card in page.cards()}
    for template in list_templates():
        if template.title in cards:
            assert ("Differs from the publication" in cards[template.title]) == bool(
                template.differs
            )
    assert "chosen on the test images" in cards["CIFAR-10 convnet"]
    labels = " ".join(label.text() for label in page.findChildren(QLabel))
    assert "Differs from the publication" not in labels, "it is in the tooltip of the card"
    (card,) = [card for card in page.cards() if card.accessibleName() == "CIFAR-10 convnet"]
    assert "chosen on the test images" in card.toolTip()


def test_recent_work_is_above_the_cards_for_who_returns(window, tmp_path):
    page = window.show_view("welcome")
    assert not page.recent.isVisible()
    for number in range(6):
        window.state.add_recent(str(tmp_path / f"a project with a name of many words {number}"))
    window.resize(1440, 900)
    QApplication.processEvents()
    assert page.recent.isVisible()
    first = min(card.mapTo(page, QPoint()).y() for card in page.cards())
    links = [each for each in page.recent.findChildren(QPushButton) if each.isVisible()]
    assert len([link for link in links if "many words" in link.text()]) == 6
    assert all(link.mapTo(page, link.rect().bottomLeft()).y() < first for link in links)
    last = max(card.mapTo(page, card.rect().bottomLeft()).y() for card in page.cards())
    assert last < page.height()


def test_a_click_is_seen_before_the_view_is_loaded(window, monkeypatch):
    """Loading the code of a view takes seconds on a slow computer."""
    page = window.show_view("welcome")
    seen = []
    show = window.views.show_view
    monkeypatch.setattr(
        window.views,
        "show_view",
        lambda key: [
            seen.extend(label.text() for label in page.findChildren(QLabel)),
            show(key),
        ][1],
    )
    page.cards()[0].clicked.emit()
    assert "Opening Fashion-MNIST convnet…" in seen
    assert "Fashion-MNIST convnet" in [label.text() for label in page.findChildren(QLabel)]


def test_a_download_without_a_connection_is_a_problem_with_a_button(window, monkeypatch, qtbot):
    monkeypatch.setattr("workbench.downloads.download.has_route", lambda address: False)
    window.files.new(find_template("cifar10_speedrun").project)
    document = window.context.document
    qtbot.waitUntil(lambda: not document.analysis.is_trainable)
    with qtbot.assertNotEmitted(window.context.library.run_started, wait=100):
        QTest.mouseClick(window.top.train, Qt.MouseButton.LeftButton)
    assert window.popup.isVisible()
    words = " ".join(label.text() for label in window.popup.findChildren(QLabel))
    assert "No connection" in words
    assert "170 MB" in words
    button = next(
        b for b in window.popup.findChildren(QAbstractButton) if "Choose other" in b.text()
    )
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.views.current_key == "data")
    monkeypatch.setattr("workbench.downloads.download.has_route", lambda address: True)
    window.show_problems()
    qtbot.waitUntil(lambda: document.analysis.is_trainable)
    window.popup.close()


def test_a_folder_that_went_away_is_noticed_and_its_return_too(flowers, folder, qtbot):
    document = flowers.context.document
    document.set_dataset(Choice("folder", {"path": str(folder), "fit": "crop"}))
    assert document.analysis.is_trainable
    folder.rename(folder.with_name("elsewhere"))
    QApplication.sendEvent(flowers, QEvent(QEvent.Type.WindowActivate))
    qtbot.waitUntil(lambda: not document.analysis.is_trainable)
    assert "Data not found" in flowers.top.train.toolTip()
    with qtbot.assertNotEmitted(flowers.context.library.run_started, wait=100):
        QTest.mouseClick(flowers.top.train, Qt.MouseButton.LeftButton)
    flowers.popup.close()
    folder.with_name("elsewhere").rename(folder)
    QApplication.sendEvent(flowers, QEvent(QEvent.Type.WindowActivate))
    qtbot.waitUntil(lambda: document.analysis.is_trainable)


def test_own_images_are_not_validated_on_their_test_part(window, folder, qtbot):
    document = window.context.document
    document.new(find_template("cifar10_convnet").project)
    published = document.recipe
    assert published.validation == "test"
    document.set_dataset(Choice("cifar100"))
    assert document.recipe == published  # published as well
    document.set_dataset(Choice("folder", {"path": str(folder)}))
    assert document.recipe == published.with_values(validation="split")
    document.set_recipe(validation="test")  # by choice
    document.set_dataset(Choice("folder", {"path": str(folder), "fit": "pad"}))
    assert document.recipe.validation == "test"
    for _ in range(3):
        document.undo_stack.undo()
    assert (document.project.dataset.key, document.recipe) == ("cifar100", published)


def test_pretrained_weights_are_downloaded_from_the_problem(window, qtbot):
    document = window.context.document
    window.files.new(project_to_download())
    window.show_view("design")
    step = window.status.next_step
    qtbot.waitUntil(lambda: step.isVisible() and step.text() == "Download (9.4 MB)")
    QTest.mouseClick(step, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.findChild(DownloadWeightsDialog) is not None)
    dialog = window.findChild(DownloadWeightsDialog)
    assert dialog.isVisible()
    assert dialog.start.text() == step.text()
    dialog.stop.click()
    assert not document.analysis.is_trainable
    weights_file(unbundled()).parent.mkdir(parents=True)
    weights_file(unbundled()).write_bytes(b"numbers")
    dialog.fetched.emit()  # as after a download
    qtbot.waitUntil(lambda: document.analysis.is_trainable)
    assert not step.isVisible()
