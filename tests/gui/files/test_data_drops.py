"""Data sets and pictures of web browsers dropped on the window."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QByteArray, QMimeData, Qt, QTimer, QUrl
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QListView, QTreeView

from tests.window_parts import drop_data_on, drop_on
from workbench.core.params import defaults
from workbench.core.projects.project import Choice
from workbench.datasets import all_datasets
from workbench.gui.classify.sources import from_web
from workbench.gui.common.drops import sort_drop
from workbench.pictures.png import png_bytes
from workbench.pictures.thumbnails import decode_picture
from workbench.protocol.describe_data import ClassDescription, DataDescription, DescribeData

PNG = png_bytes(np.full((4, 6, 3), 7, np.uint8))


def fill(root: Path, *names: str, count: int = 2) -> Path:
    for name in names:
        (root / name).mkdir(parents=True)
        for number in range(count):
            (root / name / f"{number}.png").write_bytes(PNG)
    return root


# which source ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "key"),
    [("a.zip", "zip"), ("a.tgz", "tar"), ("a.tar.xz", "tar"), ("a.csv", "csv"), ("a.npz", "npz"),
     ("a.tfrec", "tfrecord"), ("x-train.tfrecord-00001-of-00002", "tfrecord")],
)  # fmt: skip
def test_files_choose_their_source(tmp_path, name, key):
    (tmp_path / name).touch()
    drop = sort_drop([str(tmp_path / name)])
    assert drop.source.key == key
    assert drop.source.params["path"] == str(tmp_path / name)


def test_several_folders_are_classes(tmp_path):
    fill(tmp_path, "roses", "tulips")
    paths = [str(tmp_path / name) for name in ("roses", "tulips")]
    drop = sort_drop(paths)
    others = defaults(all_datasets()["folders"].params)
    assert drop.source == Choice("folders", {**others, "paths": tuple(paths)})
    assert drop.words == "Drop to use 2 folders as the data set, each as a class"


@pytest.mark.parametrize(
    ("folders", "words"),
    [
        (("roses", "tulips"), "data set: 2 classes"),
        (("plants/roses", "plants/tulips"), "as the data set"),
        (("train/roses", "train/tulips", "test/roses"), "as the data set"),
        (("a/b/c/roses", "a/b/c/tulips"), "as the data set: 2"),
        (("roses",), "only one class folder"),
    ],
)
def test_folders_of_any_depth(tmp_path, folders, words):
    drop = sort_drop([str(fill(tmp_path, *folders))])
    assert words in drop.words
    assert (drop.kind == "class_folders") == ("as the data set" in drop.words)


def test_a_folder_of_more_pictures_than_are_looked_at_is_classified_whole(cifar, tmp_path):
    for number in range(2_500):
        (tmp_path / f"{number}.png").touch()
    taken = []
    cifar.drops.pictures_folder_dropped.connect(taken.append)
    assert drop_on(cifar, tmp_path) == f"Drop to classify all images of “{tmp_path.name}”"
    assert taken == [str(tmp_path)]
    assert cifar.views.current_key == "classify"


@pytest.mark.parametrize("name", ["a.zip", "a.csv"])
def test_a_dropped_file_becomes_the_data_set(cifar, tmp_path, monkeypatch, name):
    monkeypatch.setattr(cifar.views.view("data").state, "describe", lambda: None)
    (tmp_path / name).touch()
    assert "as the data set" in drop_on(cifar, tmp_path / name)
    dataset = cifar.context.document.project.dataset
    assert (dataset.key, dataset.params["path"]) == (name[2:], str(tmp_path / name))
    assert cifar.views.current_key == "data"


def test_an_archive_dropped_on_nothing_starts_a_project_that_fits(
    window, tmp_path, monkeypatch, qtbot
):
    path = tmp_path / "photos.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("roses/1.png", PNG)
    asked = []
    send = lambda *request: asked.append(request) or len(asked)  # noqa: E731
    monkeypatch.setattr(window.context.service, "send", send)
    drop_on(window, path)
    (request, answer) = next(each for each in asked if isinstance(each[0], DescribeData))
    assert (request.source, request.params["path"]) == ("zip", str(path))
    classes = [ClassDescription(name=name, num_train=40, num_test=10) for name in ("a", "b", "c")]
    answer(
        DataDescription(
            id=1, title="x", classes=classes, num_train=120, num_test=30, shape=[],
            typical_size=[300, 400],
        )
    )  # fmt: skip
    document = window.context.document
    qtbot.waitUntil(lambda: document.project.dataset.key == "zip")
    assert document.analysis.is_trainable
    assert window.views.current_key == "data"


# choosing --------------------------------------------------------------------------------


def test_the_source_panel_offers_all_and_the_dialogs_filter(cifar, tmp_path, monkeypatch):
    view = cifar.show_view("data")
    monkeypatch.setattr(view.state, "describe", lambda: None)
    document = cifar.context.document
    filters = []

    def choose(_parent, _title, _start, wanted):
        filters.append(wanted)
        return str(tmp_path / "chosen"), ""

    monkeypatch.setattr(QFileDialog, "getOpenFileName", choose)
    for key, pattern in [
        ("zip", "*.zip"),
        ("tar", "*.tgz"),
        ("csv", "*.csv"),
        ("tfrecord", "*.tfrec"),
    ]:
        document.set_dataset(Choice(key, {}))
        cifar.data_chooser.ask("path")
        assert pattern in filters[-1]
        assert document.project.dataset.params["path"] == str(tmp_path / "chosen")


def test_several_folders_are_chosen_in_one_dialog(cifar, tmp_path, monkeypatch, qtbot):
    view = cifar.show_view("data")
    monkeypatch.setattr(view.state, "describe", lambda: None)
    fill(tmp_path, "roses", "tulips")
    document = cifar.context.document
    document.set_dataset(Choice("folders", {"paths": (), "fit": "crop"}))

    def choose():
        dialog = QApplication.activeModalWidget()
        dialog.setDirectory(str(tmp_path))
        views = (dialog.findChild(QListView, "listView"), dialog.findChild(QTreeView))
        rows = next(each for each in views if each.isVisible())
        qtbot.waitUntil(lambda: rows.model().rowCount(rows.rootIndex()) == 2)
        rows.setFocus()  # as a click does; the line follows the selection only without it
        QTest.keyClick(rows, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        dialog.accept()

    QTimer.singleShot(0, choose)
    cifar.data_chooser.ask("paths")
    assert document.project.dataset.params["paths"] == (
        str(tmp_path / "roses"), str(tmp_path / "tulips"),
    )  # fmt: skip


# web browsers ----------------------------------------------------------------------------


@pytest.fixture
def taken(cifar):
    found = []
    cifar.drops.pictures_dropped.connect(found.append)
    return found


def test_the_data_of_a_dragged_image_is_classified(cifar, taken, qtbot):
    mime = QMimeData()
    mime.setData("image/png", QByteArray(PNG))
    mime.setUrls([QUrl("http://127.0.0.1:1/never-contacted.png")])
    assert drop_data_on(cifar, mime) == "Drop to classify the image"
    qtbot.waitUntil(lambda: bool(taken))
    assert decode_picture(taken[0][0]).shape == (4, 6, 3)
    assert cifar.views.current_key == "classify"


def test_an_image_without_its_bytes_is_classified_too(cifar, taken, qtbot):
    image = QImage(5, 3, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    mime = QMimeData()
    mime.setImageData(image)
    drop_data_on(cifar, mime)
    qtbot.waitUntil(lambda: bool(taken))
    assert decode_picture(taken[0][0])[0, 0].tolist() == [255, 0, 0]


def test_an_image_that_is_its_own_address(cifar, taken, qtbot):
    encoded = bytes(QByteArray(PNG).toBase64().data()).decode()
    mime = QMimeData()
    mime.setHtml(f'<a href="x"><img src="data:image/png;base64,{encoded}"></a>')
    drop_data_on(cifar, mime)
    qtbot.waitUntil(lambda: bool(taken))
    assert decode_picture(taken[0][0]).shape == (4, 6, 3)


@pytest.mark.parametrize("form", ["html", "list", "text"])
def test_an_address_goes_to_the_view_that_downloads(cifar, taken, monkeypatch, form):
    asked = []
    monkeypatch.setattr(from_web, "ask_choice", lambda _parent, what, *_, **__: asked.append(what))
    address = "https://flowers.example:8080/rose.png"
    mime = QMimeData()
    if form == "html":
        mime.setHtml(f'<meta><img alt="a rose" src="{address}" onload="x()">')
        mime.setUrls([QUrl("https://flowers.example/page-around-it")])
    elif form == "list":
        mime.setUrls([QUrl(address)])
    else:
        mime.setText(f"{address}\n")
    words = "Drop to download the image from flowers.example:8080 and classify it"
    assert drop_data_on(cifar, mime) == words
    assert cifar.views.current_key == "classify"
    assert asked == ["Connect to flowers.example:8080?"]
    assert taken == []


@pytest.mark.parametrize(
    "html", ["<p>words</p>", '<img src="file:///etc/passwd">', '<img src="javascript:x()">', "<img"]
)
def test_what_is_no_picture_is_refused(cifar, taken, html):
    mime = QMimeData()
    mime.setHtml(html)
    assert drop_data_on(cifar, mime) == ""
    assert taken == []


def test_a_saved_model_is_no_data_set(window, tmp_path):
    folder = tmp_path / "seq_savedmodel"
    for name in ("assets", "variables"):
        (folder / name).mkdir(parents=True)
    (folder / "saved_model.pb").write_bytes(b"\x08\x01")
    before = window.context.document.project
    assert drop_on(window, folder).startswith("“seq_savedmodel” is a SavedModel of TensorFlow")
    assert window.context.document.project == before


def test_folders_without_an_image_are_no_classes(window, tmp_path):
    folder = tmp_path / "letters"
    for name in ("old", "new"):
        (folder / name).mkdir(parents=True)
        (folder / name / "letter.pdf").touch()
    before = window.context.document.project
    assert "contains no images and no class folders" in drop_on(window, folder)
    assert window.context.document.project == before
    (folder / "new" / "photo.jpg").touch()
    found = sort_drop([str(folder)])
    assert found.words == "Drop to use “letters” as the data set: 2 classes"


def test_of_many_documents_in_folders_only_a_part_is_looked_at(tmp_path):
    """The window's thread does that while the pointer moves."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        for number in range(1_100):
            (tmp_path / name / f"{number}.pdf").touch()
    assert sort_drop([str(tmp_path)]).words.endswith("as the data set: 2 classes")


def test_a_link_in_a_circle_does_not_hide_the_class_folders_beside_it(tmp_path):
    folder = tmp_path / "letters"
    for name in ("old", "new"):
        (folder / name).mkdir(parents=True)
        (folder / name / "1.png").touch()
    (folder / "self").symlink_to("self")
    assert sort_drop([str(folder)]).words == "Drop to use “letters” as the data set: 2 classes"
