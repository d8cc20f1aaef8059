"""Files: opened, saved, dropped; nothing unsaved is lost unasked."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QDragLeaveEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from tests.looks import wait_until_painted
from tests.window_parts import drag_over, drop_on, let_go, mime_of
from workbench.core.projects.project_file import read_project, save_project
from workbench.gui.common.drops import sort_drop
from workbench.gui.files import controller as file_flow
from workbench.gui.kit.dialogs import Answer
from workbench.gui.shell import drop_controller as drop_flow
from workbench.pictures.png import write_png
from workbench.protocol.classify import Classify, ClassifyMany
from workbench.protocol.trained.evaluate import Evaluate
from workbench.protocol.weights import LoadWeights
from workbench.templates import find_template

np = pytest.importorskip("numpy")


@pytest.fixture
def answers(monkeypatch):
    """What the user answers to the questions about unsaved changes, in order."""
    given = []
    monkeypatch.setattr(file_flow, "ask_unsaved", lambda _parent, _name: given.pop(0))
    return given


@pytest.fixture
def shown_errors(monkeypatch):
    shown = []
    monkeypatch.setattr(file_flow, "show_error", lambda _parent, error: shown.append(error))
    return shown


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "a picture.png"
    write_png(path, np.full((8, 8, 3), 99, np.uint8))
    return path


@pytest.fixture
def class_folders(tmp_path):
    root = tmp_path / "mushrooms"
    for name, number in (("champignon", 6), ("fly agaric", 5)):
        (root / name).mkdir(parents=True)
        for index in range(number):
            write_png(root / name / f"{index}.png", np.full((9, 9, 3), index, np.uint8))
    return root


def test_save_and_open_again(cifar, tmp_path):
    path = tmp_path / "mine.workbench"
    cifar.context.document.add_node("dropout")
    assert cifar.files._save_to(str(path))
    assert cifar.windowTitle() == "[*]mine — Workbench"
    assert not cifar.isWindowModified()
    assert str(path) in cifar.state.recent()
    assert read_project(path).graph == cifar.context.document.graph


def test_cancel_keeps_what_is_unsaved(cifar, answers):
    cifar.context.document.add_node("dropout")
    graph = cifar.context.document.graph
    answers.append(Answer.CANCEL)
    assert not cifar.files.new()
    assert cifar.context.document.graph is graph
    assert cifar.isWindowModified()


def test_discard_gives_it_up_and_save_keeps_it(cifar, answers, tmp_path):
    path = tmp_path / "kept.workbench"
    cifar.files._save_to(str(path))
    cifar.context.document.add_node("dropout")
    answers.append(Answer.SAVE)
    assert cifar.files.new()
    assert any(node.kind == "dropout" for node in read_project(path).graph.nodes.values())
    cifar.context.document.add_node("input")
    answers.append(Answer.DISCARD)
    assert cifar.files.new()
    assert not cifar.context.document.graph.nodes


def test_a_window_with_unsaved_changes_does_not_close_unasked(cifar, answers):
    cifar.context.document.add_node("dropout")
    answers.append(Answer.CANCEL)
    assert not cifar.close()
    assert cifar.isVisible()


def test_a_file_that_cannot_be_opened_changes_nothing(cifar, tmp_path, shown_errors):
    broken = tmp_path / "broken.workbench"
    broken.write_text("{ this is no project")
    graph = cifar.context.document.graph
    assert not cifar.files.open(str(broken))
    assert "broken.workbench" in str(shown_errors[0])
    assert cifar.context.document.graph is graph


def test_a_dropped_project_opens(window, tmp_path):
    path = tmp_path / "dropped.workbench"
    save_project(find_template("lenet5").project, path)
    words = drop_on(window, path)
    assert "dropped.workbench" in words
    assert window.views.current_key == "design"
    assert window.windowTitle() == "[*]dropped — Workbench"
    assert window.drops.overlay.words == ""


def test_dropped_pictures_go_to_classify(cifar, picture, monkeypatch):
    view = cifar.views.view("classify")
    asked = []
    monkeypatch.setattr(view, "classify", asked.append)
    words = drop_on(cifar, picture)
    assert words == "Drop to classify 1 image"
    assert cifar.views.current_key == "classify"
    assert asked == [[str(picture)]]


def test_paste_reaches_the_view_in_front_wherever_the_focus_is(cifar, picture, qtbot, monkeypatch):
    view = cifar.show_view("classify")
    pasted = []
    monkeypatch.setattr(view.state, "classify", pasted.append)
    with qtbot.waitActive(cifar):
        cifar.activateWindow()
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(picture))])
    QApplication.clipboard().setMimeData(mime)
    cifar.show_view("classify")
    cifar.top.train.setFocus()
    QTest.keyClick(cifar, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert pasted == [[str(picture)]]
    cifar.show_view("design")
    cifar.top.train.setFocus()
    QTest.keyClick(cifar, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert pasted == [[str(picture)]]


def test_dropped_class_folders_become_the_data_set(cifar, class_folders, monkeypatch):
    view = cifar.views.view("data")
    monkeypatch.setattr(view.state, "describe", lambda: None)
    words = drop_on(cifar, class_folders)
    assert "2 classes" in words
    dataset = cifar.context.document.project.dataset
    assert dataset.key == "folder"
    assert dataset.params["path"] == str(class_folders)
    assert cifar.views.current_key == "data"
    assert cifar.context.document.undo_stack.canUndo()


def test_class_folders_dropped_on_nothing_start_a_project_that_fits(
    window, class_folders, monkeypatch, qtbot
):
    view = window.views.view("data")
    monkeypatch.setattr(view.state, "describe", lambda: None)
    drop_on(window, class_folders)
    document = window.context.document
    qtbot.waitUntil(lambda: document.project.title == class_folders.name)
    assert document.analysis.is_trainable
    assert window.views.current_key == "data"


@pytest.fixture
def asked(cifar, monkeypatch):
    """What is requested of the worker, with what takes the answers."""
    found = []
    send = lambda *request: found.append(request) or len(found)  # noqa: E731
    for worker in (cifar.context.service, cifar.context.measurer):
        monkeypatch.setattr(worker, "send", send)
    return found


def requests(asked, kind):
    return [request for request, _ in asked if isinstance(request, kind)]


@pytest.fixture
def trained(cifar, written, asked, qtbot):
    """The window, whose project has a run with (the names of) weights."""
    run = written(project=cifar.context.document.project).begin().train(1)
    run.folder.weights_path.write_bytes(b"weights")
    run.folder.card_path.write_bytes(b"{}")
    run.finish()
    cifar.context.library.open()
    qtbot.waitUntil(lambda: cifar.context.library.current is not None)
    return cifar


@pytest.mark.parametrize("key", ["classify", "evaluate"])
def test_without_a_model_class_folders_are_the_data_set_as_everywhere(
    cifar, class_folders, key, asked
):
    cifar.show_view(key)
    assert "as the data set" in drop_on(cifar, class_folders)
    assert cifar.views.current_key == "data"
    assert cifar.context.document.project.dataset.params["path"] == str(class_folders)


def test_class_folders_dropped_on_classify_are_classified_and_counted(
    trained, class_folders, asked
):
    before = trained.context.document.project.dataset
    trained.show_view("classify")
    assert "count the correct ones" in drop_on(trained, class_folders)
    (request,) = requests(asked, ClassifyMany)
    assert request.has_class_folders
    assert [source.path for source in request.sources] == [str(class_folders)]
    assert trained.context.document.project.dataset == before
    assert trained.views.current_key == "classify"


def test_a_folder_with_one_class_folder_dropped_on_classify_is_classified_and_counted(
    trained, class_folders, asked
):
    shutil.rmtree(class_folders / "champignon")
    trained.show_view("classify")
    assert "count the correct ones" in drop_on(trained, class_folders)
    assert requests(asked, ClassifyMany)[0].has_class_folders
    trained.show_view("data")
    assert "contains only one class folder" in drop_on(trained, class_folders)
    assert trained.context.document.project.dataset.key != "folder"


@pytest.mark.parametrize("kind", ["folder", "npz"])
def test_labeled_images_dropped_on_evaluate_are_evaluated_and_the_data_set_stays(
    trained, class_folders, tmp_path, asked, kind
):
    """Another drop while they are evaluated is refused, and changes nothing either."""
    (tmp_path / "held.npz").write_bytes(b"arrays")
    path = class_folders if kind == "folder" else tmp_path / "held.npz"
    before = trained.context.document.project.dataset
    view = trained.show_view("evaluate")
    words = drop_on(trained, path)
    assert words == f"Drop to evaluate the model on the images of “{path.name}”"
    (request,) = requests(asked, Evaluate)
    assert (request.model, request.source) == (str(view.chooser.path), kind)
    assert request.params["path"] == str(path)
    assert view.cancel.isVisible()
    assert "An evaluation is under way" in drop_on(trained, path)
    assert len(requests(asked, Evaluate)) == 1
    assert trained.context.document.project.dataset == before
    assert trained.views.current_key == "evaluate"


def test_what_was_said_is_done_without_a_second_look(cifar, class_folders, monkeypatch):
    monkeypatch.setattr(cifar.views.view("data").state, "describe", lambda: None)
    looks = []
    monkeypatch.setattr(
        drop_flow, "sort_drop", lambda paths, **how: looks.append(paths) or sort_drop(paths, **how)
    )
    drop_on(cifar, class_folders)
    assert looks == [[str(class_folders)]]


def test_what_is_dropped_before_it_is_known_is_used_once_it_is(
    cifar, class_folders, monkeypatch, qtbot
):
    """A folder may be on a slow disk: neither the drag nor the drop waits for it here."""
    monkeypatch.setattr(cifar.views.view("data").state, "describe", lambda: None)
    is_known, threads = threading.Event(), []

    def slow(paths, **how):
        threads.append(threading.current_thread())
        is_known.wait(60)
        return sort_drop(paths, **how)

    monkeypatch.setattr(drop_flow, "sort_drop", slow)
    mime = mime_of(class_folders)
    drag_over(cifar, mime)
    assert cifar.drops.overlay.words == "Looking at the files…"
    let_go(cifar, mime)
    document = cifar.context.document
    assert document.project.dataset.key != "folder"
    is_known.set()
    qtbot.waitUntil(lambda: document.project.dataset.key == "folder")
    assert not cifar.drops.overlay.isVisible()
    assert threads != [threading.main_thread()]


def test_what_has_left_before_it_is_known_is_not_spoken_of(cifar, picture, monkeypatch, qtbot):
    is_known, ended = threading.Event(), []

    def slow(paths, **how):
        is_known.wait(60)
        ended.append(paths)
        return sort_drop(paths, **how)

    monkeypatch.setattr(drop_flow, "sort_drop", slow)
    drag_over(cifar, mime_of(picture))
    QApplication.sendEvent(cifar, QDragLeaveEvent())
    is_known.set()
    qtbot.waitUntil(lambda: bool(ended))
    wait_until_painted(qtbot, cifar)
    assert not cifar.drops.overlay.isVisible()


def test_what_cannot_be_used_is_explained_while_it_hangs_there(cifar, tmp_path):
    text = tmp_path / "letter.odt"
    text.write_text("words")
    words = drop_on(cifar, text)
    assert "letter.odt" in words
    assert "cannot be used" in words
    assert cifar.views.current_key == "design"


def test_the_veil_goes_when_the_pointer_leaves(cifar, picture):
    drag_over(cifar, mime_of(picture))
    assert cifar.drops.overlay.isVisible()
    QApplication.sendEvent(cifar, QDragLeaveEvent())
    assert not cifar.drops.overlay.isVisible()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("p.WORKBENCH", "project"),
        ("a.JPG", "pictures"),
        ("m.weights.h5", "weights"),
        ("m.keras", "weights"),
        ("d.npz", "data_file"),
        ("d.ZIP", "data_file"),
        ("d.tar.gz", "data_file"),
        ("d.csv", "data_file"),
        ("d-train.tfrecord-00000-of-00002", "data_file"),
        ("x.exe", "unknown"),
        ("letter.odt", "unknown"),
        ("photo", "pictures"),
        ("photo.jpg_large", "pictures"),
        ("photo.jpg!d", "pictures"),
        ("photo.image", "pictures"),
    ],
)
def test_files_are_sorted_by_their_names(tmp_path, name, kind):
    path = tmp_path / name
    path.touch()
    assert sort_drop([str(path)]).kind == kind


def test_what_may_be_a_picture_is_classified_if_it_is_one(tmp_path):
    for name in ("a", "b.image", "c.txt"):
        (tmp_path / name).touch()
    one, two = (str(tmp_path / name) for name in ("a", "b.image"))
    assert sort_drop([one]).words == "Drop to classify “a”, if it is an image"
    drop = sort_drop([one, two, str(tmp_path / "c.txt")])
    assert drop.words == "Drop to classify 2 files, if they are images (1 other file skipped)"
    (tmp_path / "c.txt").unlink()
    drop = sort_drop([str(tmp_path)])
    assert drop.kind == "picture_folder"
    assert drop.words.endswith(", if there are any")


def test_addresses_of_files_are_read_as_file_managers_write_them():
    mime = QMimeData()
    lines = [b"file:///home/caf%E9%20x.jpg", b"file://localhost/home/50%25.png", b"http://a/b.png",
             "file:///home/löwe%23.png".encode(), b"file:/home/one.png", b"file://server/s/a.png"]  # fmt: skip
    mime.setData("text/uri-list", b"\r\n".join(lines))
    assert drop_flow.local_paths(mime) == [
        "/home/caf\udce9 x.jpg",
        "/home/50%.png",
        "/home/löwe#.png",
        "/home/one.png",
        "//server/s/a.png",
    ]


def test_a_picture_whose_name_is_no_text_is_classified_by_a_link(trained, picture, asked):
    path = picture.with_name("caf\udce9")
    path.write_bytes(picture.read_bytes())
    trained.drops.take(sort_drop([str(path)]))
    (request,) = requests(asked, Classify)
    (file,) = request.pictures
    assert file.isprintable()
    assert Path(file).samefile(path)


def test_several_files_are_pictures_and_the_rest_is_counted(tmp_path):
    for name in ("a.png", "b.jpg", "c.txt"):
        (tmp_path / name).touch()
    drop = sort_drop([str(tmp_path / name) for name in ("a.png", "b.jpg", "c.txt")])
    assert drop.kind == "pictures"
    assert len(drop.paths) == 2
    assert "1 other file" in drop.words


def test_a_folder_of_pictures_is_classified_and_an_empty_one_explained(tmp_path, picture):
    assert sort_drop([str(picture.parent)]).kind == "picture_folder"
    empty = tmp_path / "nothing"
    empty.mkdir()
    assert "no images" in sort_drop([str(empty)]).words


@pytest.mark.parametrize("name", ["own.keras", "own.hdf5", "own.weights.h5"])
def test_menu_drop_and_classify_load_weights_in_one_way(cifar, tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_bytes(b"weights")
    asked = []
    monkeypatch.setattr(cifar.context.service, "send", lambda request, _: asked.append(request))
    chosen = lambda *_arguments: (str(path), "")  # noqa: E731
    monkeypatch.setattr(QFileDialog, "getOpenFileName", chosen)
    cifar.actions_by_key["load_weights"].trigger()
    drop_on(cifar, path)
    cifar.show_view("classify").ask_weights()
    by_menu, by_drop, in_classify = (r for r in asked if isinstance(r, LoadWeights))
    assert by_menu.weights == str(path)
    assert by_menu == by_drop == in_classify


def test_of_two_dropped_projects_none_is_opened(cifar, tmp_path):
    paths = [tmp_path / "a.workbench", tmp_path / "b.WORKBENCH"]
    for path in paths:
        save_project(find_template("lenet5").project, path)
    assert drop_on(cifar, *paths) == "Drop one project at a time"
    assert cifar.files.name.startswith("CIFAR-10")
