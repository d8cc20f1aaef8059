"""The data check in the data view, with a worker's answers played to it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QLabel, QPushButton

from tests.looks import flaws_of
from workbench.core.data_check.findings import (
    KEEP,
    Action,
    FoundImage,
    LabelEvidence,
    leave_out,
    new_finding,
)
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import parse_project
from workbench.errors import DatasetError
from workbench.gui.data.finding_views import ROW_PX, settle_words
from workbench.protocol.data_check import (
    CheckData,
    DataCheckReport,
    DataFindings,
    FoundThumbnails,
    RuleCount,
    ShowFound,
)
from workbench.protocol.describe_data import ClassDescription, DataDescription, DescribeData
from workbench.protocol.messages import Failed, Progress
from workbench.protocol.wire import error_parts

DESCRIPTION = DataDescription(
    title="Image folder",
    classes=[ClassDescription(name=name, num_train=9, num_test=1) for name in ("cat", "dog")],
    num_train=18,
    num_test=2,
    shape=[],
)


def image(number, label="cat"):
    file = f"/data/{label}/<b>{number}.png"
    return FoundImage(f"{number:032x}", file, "train", number, label, label, "train", 40, 30)


def pair(number):
    """Two images that look alike."""
    images = [image(2 * number), image(2 * number + 1, "dog")]
    choices = [
        leave_out([images[1]]),
        Action("other", "Leave the first out", left_out=(images[0].content,)),
    ]
    return new_finding(
        "near_duplicate", "warning", f"Pair {number}", "Alike.", images=images, actions=choices
    )


def tiny(number):
    return new_finding(
        "tiny",
        "warning",
        f"Tiny {number}",
        "Small.",
        images=[image(number)],
        actions=[leave_out([image(number)])],
    )


class Played:
    """A service whose answers the test gives."""

    def __init__(self, service, monkeypatch):
        self.requests, self.cancelled = [], []
        self.answered = 0
        monkeypatch.setattr(service, "send", self._send)
        monkeypatch.setattr(service, "cancel", self.cancelled.append)

    def _send(self, request, on_answer):
        self.requests.append((request, on_answer))
        return len(self.requests)

    def of(self, kind):
        return [(request, answer) for request, answer in self.requests if isinstance(request, kind)]


@pytest.fixture
def service(context, monkeypatch):
    return Played(context.service, monkeypatch)


@pytest.fixture
def measurer(context, monkeypatch):
    return Played(context.measurer, monkeypatch)


@pytest.fixture
def described(window, service, measurer, qtbot, tmp_path):
    """The view of a folder that has been described: its check runs."""
    window.resize(1280, 800)
    document = window.context.document
    document.set_dataset(Choice("folder", {"path": str(tmp_path), "fit": "crop"}))
    view = window.show_view("data")
    qtbot.waitUntil(lambda: bool(service.of(DescribeData)))
    service.of(DescribeData)[-1][1](DESCRIPTION)
    return view


@pytest.fixture
def panel(described, measurer):
    """The panel with four findings, opened."""
    panel = described.panels["data_check"]
    answer(measurer, [pair(1), pair(2)], [tiny(20), tiny(21)])
    return panel


def answer(measurer, *groups, total=None):
    """Plays the findings of a check."""
    _, reply = measurer.of(CheckData)[-1]
    counts = []
    for group in groups:
        for start in range(0, len(group), 200):
            reply(DataFindings(findings=group[start : start + 200]))
        listed = len(group)
        counts.append(RuleCount(rule=group[0].rule, total=total or listed, listed=listed))
    reply(DataCheckReport(counts=counts, num_images=20, seconds=0.1))


def titles(panel):
    return [panel.rows.index(row).data() for row in range(panel.rows.rowCount())]


def click(qtbot, button):
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def press(panel, qtbot, words):
    (found,) = (button for button in panel.detail.buttons if button.text() == words)
    click(qtbot, found)


def test_own_data_is_checked_once_it_is_described(described, measurer, service):
    ((request, _),) = measurer.of(CheckData)
    assert parse_project(request.project, "").dataset.key == "folder"
    assert not request.labels
    panel = described.panels["data_check"]
    assert panel.cancel_button.isVisible()
    assert panel.progress.isVisible()
    answer(measurer, [tiny(1)])
    assert not panel.progress.isVisible()
    assert panel.summary.text() == "1 finding. 20 images checked."
    service.of(DescribeData)[-1][1](DESCRIPTION)  # rescanned: not checked again by itself
    assert len(measurer.of(CheckData)) == 1


def test_published_data_is_checked_on_demand(window, service, measurer, qtbot):
    view = window.show_view("data")
    qtbot.waitUntil(lambda: bool(service.of(DescribeData)))
    service.of(DescribeData)[-1][1](DESCRIPTION)
    assert not measurer.of(CheckData)
    panel = view.panels["data_check"]
    assert panel.summary.text().startswith("Not checked yet.")
    assert not panel.open_button.isEnabled()
    click(qtbot, panel.check_button)
    assert len(measurer.of(CheckData)) == 1


def test_label_errors_are_looked_for_on_demand_and_again_with_the_next_check(
    described, measurer, qtbot
):
    panel = described.panels["data_check"]
    answer(measurer, [tiny(1)])
    click(qtbot, panel.labels_button)
    request, reply = measurer.of(CheckData)[-1]
    assert request.labels
    assert not panel.labels_button.isVisible()
    suspicious = new_finding(
        "suspicious_label",
        "warning",
        "“cat”, or “dog”?",
        "M",
        images=[image(3)],
        actions=[Action("relabel", "Relabel as “dog”", labels={image(3).content: "dog"})],
    )
    reply(DataFindings(findings=[suspicious]))
    reply(DataCheckReport(counts=[], num_images=20, seconds=0.1, has_checked_labels=True))
    click(qtbot, panel.open_button)
    press(panel, qtbot, "Relabel as “dog”")
    edits = panel.window().context.document.project.edits
    assert dict(edits.labels) == {image(3).content: "dog"}
    click(qtbot, panel.check_button)
    assert measurer.of(CheckData)[-1][0].labels


def test_label_errors_are_looked_for_again_when_a_class_is_renamed(
    described, service, measurer, qtbot, window
):
    document, panel = window.context.document, described.panels["data_check"]
    answer(measurer, [tiny(1)])
    click(qtbot, panel.labels_button)
    measurer.of(CheckData)[-1][1](
        DataCheckReport(counts=[], num_images=20, seconds=0.1, has_checked_labels=True)
    )
    asked = len(service.of(DescribeData))
    document.set_edits(DataEdits(classes={"cat": "tiger"}), "Rename")
    qtbot.waitUntil(lambda: len(service.of(DescribeData)) > asked)
    service.of(DescribeData)[-1][1](DESCRIPTION)
    qtbot.waitUntil(lambda: len(measurer.of(CheckData)) > 2)
    assert measurer.of(CheckData)[-1][0].labels


def test_no_data_is_not_checked(window, service, measurer, qtbot):
    window.context.document.set_dataset(Choice("folder", {"path": "", "fit": "crop"}))
    panel = window.show_view("data").panels["data_check"]
    assert panel.summary.text() == "Choose images first."
    assert not panel.check_button.isEnabled()


def test_progress_is_shown_and_the_check_can_be_canceled(described, measurer, qtbot):
    panel = described.panels["data_check"]
    _, reply = measurer.of(CheckData)[-1]
    reply(Progress(text="Checking the images: 10 of 20", fraction=0.5))
    assert panel.summary.text() == "Checking the images: 10 of 20"
    assert panel.progress.value() == 500
    click(qtbot, panel.cancel_button)
    assert measurer.cancelled == [1]
    reply(Failed(error=error_parts(DatasetError("Canceled."))))
    assert panel.summary.text() == "Canceled."
    click(qtbot, panel.check_button)
    answer(measurer, [tiny(1)])
    assert panel.summary.text() == "1 finding. 20 images checked."


def test_the_findings_are_listed_by_rule_in_place_of_the_contents(panel, described, qtbot):
    contents = described.panels["data_contents"]
    assert contents.isVisible()
    click(qtbot, panel.open_button)
    assert not contents.isVisible()
    assert titles(panel) == [
        "Near duplicates",
        "Pair 1",
        "Pair 2",
        "Tiny images",
        "Tiny 20",
        "Tiny 21",
    ]
    assert panel.detail.title.text() == "Pair 1"
    qtbot.waitUntil(lambda: not flaws_of(panel.window()))
    click(qtbot, panel.open_button)
    assert contents.isVisible()


def test_an_action_is_one_click_settles_and_is_undone(panel, window, qtbot):
    document = window.context.document
    click(qtbot, panel.open_button)
    press(panel, qtbot, "Leave out")
    assert document.project.edits == DataEdits(left_out=frozenset({f"{3:032x}"}))
    assert panel.summary.text() == "4 findings, 1 fixed. 20 images checked."
    assert titles(panel) == ["Near duplicates", "Pair 2", "Tiny images", "Tiny 20", "Tiny 21"]
    assert panel.detail.title.text() == "Pair 2"  # the next one
    qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert document.project.edits == DataEdits()
    assert titles(panel)[1] == "Pair 1"
    assert panel.summary.text() == "4 findings. 20 images checked."


def test_keeping_hides_a_finding_and_it_can_be_shown_again(panel, window, qtbot):
    click(qtbot, panel.open_button)
    press(panel, qtbot, "Keep as it is")
    assert "Pair 1" not in titles(panel)
    panel.switch.chosen.emit("settled")
    assert titles(panel) == ["Near duplicates", "Pair 1"]
    press(panel, qtbot, "Show again")
    assert titles(panel) == []
    assert panel.hint.isVisible()
    assert panel.hint.text().startswith("Nothing has been settled yet")
    assert window.context.document.project.edits == DataEdits()


def test_only_what_makes_sense_is_offered(described, measurer, qtbot):
    panel = described.panels["data_check"]
    files = [
        new_finding("unreadable", "warning", "Cannot be read", "M", images=[image(number)],
                    actions=[leave_out([image(number)])], can_be_kept=False)
        for number in (1, 2)
    ]  # fmt: skip
    answer(measurer, files)
    click(qtbot, panel.open_button)
    assert [button.text() for button in panel.detail.buttons] == ["Leave out"]
    panel.list.setCurrentIndex(panel.rows.index(0))
    assert [button.text() for button in panel.detail.buttons] == ["Leave out all 2"]


def test_a_rule_is_settled_at_once_in_one_step(panel, window, qtbot):
    click(qtbot, panel.open_button)
    panel.list.setCurrentIndex(panel.rows.index(0))
    press(panel, qtbot, "Leave out all 2")
    document = window.context.document
    assert document.project.edits.left_out == {f"{3:032x}", f"{5:032x}"}
    assert titles(panel) == ["Tiny images", "Tiny 20", "Tiny 21"]
    panel.list.setCurrentIndex(panel.rows.index(0))
    press(panel, qtbot, "Keep all 2 as they are")
    assert titles(panel) == []
    assert panel.hint.text() == "No finding is open."
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.project.edits == DataEdits()
    assert len(titles(panel)) == 6


def test_a_recipe_action_changes_the_recipe(described, measurer, window, qtbot):
    panel = described.panels["data_check"]
    weights = Action("balance", "Use balanced class weights", recipe={"class_weights": "balanced"})
    answer(measurer, [new_finding("imbalance", "warning", "9 times", "M", actions=[weights])])
    click(qtbot, panel.open_button)
    press(panel, qtbot, "Use balanced class weights")
    document = window.context.document
    assert document.recipe.class_weights == "balanced"
    assert panel.summary.text().startswith("1 finding, 1 fixed.")
    document.undo_stack.undo()
    assert panel.summary.text().startswith("1 finding. ")


def test_another_data_set_drops_the_findings(panel, window, qtbot, tmp_path):
    click(qtbot, panel.open_button)
    window.context.document.set_dataset(Choice("folder", {"path": "/other", "fit": "crop"}))
    assert titles(panel) == []
    assert panel.summary.text().startswith("The images are checked as soon as")


def test_a_thousand_findings_fetch_only_what_is_seen(described, measurer, qtbot):
    panel = described.panels["data_check"]
    answer(measurer, [pair(number) for number in range(1000)], total=2204)
    assert panel.summary.text() == "1,000 findings. 20 images checked."
    click(qtbot, panel.open_button)
    assert panel.rows.rowCount() == 1001
    visible = panel.list.viewport().height() // ROW_PX + 2
    qtbot.waitUntil(lambda: f"{1:032x}" in fetched(measurer))
    assert len(fetched(measurer)) <= 2 * visible
    panel.list.scrollToBottom()
    qtbot.waitUntil(lambda: f"{1999:032x}" in fetched(measurer))
    assert len(fetched(measurer)) <= 4 * visible
    panel.list.setCurrentIndex(panel.rows.index(0))
    assert panel.detail.message.text() == "1,000 findings, 1,204 more."


def fetched(measurer):
    """Answers every request for small images; the contents of all that were requested so far."""
    while len(measurer.of(ShowFound)) > measurer.answered:
        request, reply = measurer.of(ShowFound)[measurer.answered]
        measurer.answered += 1
        reply(FoundThumbnails(paths=[""] * len(request.images)))
    return {each.content for request, _ in measurer.of(ShowFound) for each in request.images}


def test_images_appear_when_they_arrive(panel, measurer, qtbot, tmp_path):
    picture = QImage(20, 30, QImage.Format.Format_RGB32)
    picture.fill(0xFF0000)
    picture.save(str(tmp_path / "red.png"))
    click(qtbot, panel.open_button)
    qtbot.waitUntil(lambda: bool(measurer.of(ShowFound)))
    request, reply = measurer.of(ShowFound)[0]
    reply(FoundThumbnails(paths=[str(tmp_path / "red.png")] * len(request.images)))

    def reds():
        shot = panel.detail.pictures.grab().toImage()
        return {shot.pixelColor(x, shot.height() // 2).red() for x in range(0, shot.width(), 5)}

    qtbot.waitUntil(lambda: 255 in reds())


def test_names_from_files_are_plain_text(panel, qtbot):
    click(qtbot, panel.open_button)
    panel.list.setCurrentIndex(panel.rows.index(1))
    labels = panel.detail.widget().findChildren(QLabel)
    assert any("<b>2.png" in label.text() for label in labels)
    assert {label.textFormat() for label in labels} == {Qt.TextFormat.PlainText}


@pytest.mark.parametrize("size", [(800, 600), (1000, 620)])
def test_small_windows_show_the_finding_below_the_list(panel, window, qtbot, size):
    click(qtbot, panel.open_button)
    window.resize(*size)
    qtbot.waitUntil(lambda: panel.detail.geometry().top() > panel.list.geometry().top())
    assert panel.list.height() >= 2 * ROW_PX
    first, inside = panel.detail.buttons[0], panel.detail.viewport()

    def bottom():
        return first.mapTo(inside, first.rect().bottomLeft()).y()

    qtbot.waitUntil(lambda: 0 < bottom() <= inside.height())  # without scrolling
    qtbot.waitUntil(lambda: not flaws_of(window))


def test_the_keyboard_goes_through_the_findings(panel, qtbot):
    click(qtbot, panel.open_button)
    panel.list.setFocus()
    qtbot.keyClick(panel.list, Qt.Key.Key_Down)
    assert panel.detail.title.text() == "Pair 2"
    qtbot.keyClick(panel.list, Qt.Key.Key_Down)
    assert panel.detail.title.text() == "Tiny images"


def test_open_findings_are_in_the_status_line_of_every_view_and_lead_to_the_list(
    window, described, measurer, qtbot
):
    status, panel = window.status, described.panels["data_check"]
    assert not status.findings.isVisible()
    answer(measurer, [pair(1), pair(2)], [tiny(20), tiny(21)])
    assert status.findings.text() == "4 data findings"
    assert "No problems" not in (status.problems.text() if status.problems.isVisible() else "")
    window.show_view("train")
    click(qtbot, status.findings)
    assert panel.isVisible()
    assert panel.is_open
    panel.findings.apply_to_all([2, 3], KEEP)
    assert status.findings.text() == "2 data findings"
    panel.findings.apply_to_all([0, 1])
    assert not status.findings.isVisible()
    assert status.problems.isVisible()
    window.context.document.undo_stack.undo()
    assert status.findings.isVisible()
    window.context.document.new(Project())
    assert not status.findings.isVisible()


def heading_buttons(panel):
    """The buttons of the headings by their words."""
    rows = (panel.rows.index(place) for place in range(panel.rows.rowCount()))
    widgets = (panel.list.indexWidget(index) for index in rows)
    return {
        found.text(): found
        for widget in widgets if widget is not None
        for found in widget.findChildren(QPushButton)
    }  # fmt: skip


def doubtful(number, given, suggested, score):
    near = tuple(image(900 + at, suggested) for at in range(3))
    evidence = LabelEvidence(0.02, suggested, 0.95, near)
    action = Action(
        "relabel", f"Relabel as “{suggested}”", labels={image(number).content: suggested}
    )
    title = f"“{given}”, or “{suggested}”?"
    finding = new_finding(
        "suspicious_label", "warning", title, "Doubted.", images=[image(number, given)],
        actions=[action, leave_out([image(number, given)])], score=score,
    )  # fmt: skip
    return replace(finding, group=f"“{given}” → “{suggested}”", evidence=evidence)


def test_a_heading_settles_all_below_it_by_a_button_in_one_step(panel, window, qtbot):
    click(qtbot, panel.open_button)
    assert set(heading_buttons(panel)) == {"Leave out all 2"}  # one of each rule
    buttons = [panel.list.indexWidget(panel.rows.index(at)) for at in (0, 3)]
    assert all(each is not None and each.isVisible() for each in buttons)
    click(qtbot, buttons[1].findChild(QPushButton))
    document = window.context.document
    assert document.project.edits.left_out == {f"{20:032x}", f"{21:032x}"}
    assert titles(panel) == ["Near duplicates", "Pair 1", "Pair 2"]
    document.undo_stack.undo()
    assert document.project.edits == DataEdits()
    assert len(heading_buttons(panel)) == 1
    panel.switch.chosen.emit("settled")
    assert not heading_buttons(panel)


def test_several_chosen_findings_of_a_kind_are_settled_together(panel, window, qtbot):
    click(qtbot, panel.open_button)
    rows = [panel.list.visualRect(panel.rows.index(at)).center() for at in range(6)]
    view, left = panel.list.viewport(), Qt.MouseButton.LeftButton
    qtbot.mouseClick(view, left, pos=rows[1])
    qtbot.mouseClick(view, left, Qt.KeyboardModifier.ShiftModifier, rows[2])
    assert panel.detail.title.text() == "2 findings chosen"
    press(panel, qtbot, "Leave out all 2")
    assert window.context.document.undo_stack.count() == 1 + 1  # the data set, and this
    assert titles(panel) == ["Tiny images", "Tiny 20", "Tiny 21"]


def test_what_all_chosen_findings_offer_is_a_button(described, measurer, window, qtbot):
    panel = described.panels["data_check"]
    answer(measurer, [doubtful(1, "cat", "R & D", 0.9), doubtful(2, "dog", "cat", 0.8)])
    click(qtbot, panel.open_button)
    panel.list.selectAll()
    words = [button.text() for button in panel.detail.buttons]
    assert words == ["Relabel all 2 as suggested", "Leave out all 2", "Keep all 2 as they are"]
    press(panel, qtbot, "Leave out all 2")
    edits = window.context.document.project.edits
    assert edits.left_out == {image(1).content, image(2).content}
    assert not edits.labels


def reading(key, value):
    change = Action(f"use_{value}", f"Use {value}", dataset={key: value})
    about = f"{key} {value}"
    return new_finding(
        "doubtful_reading", "warning", key, "Doubted.", actions=[change], about=about
    )


def test_another_reading_of_the_data_is_chosen_by_itself_alone(described, measurer, window, qtbot):
    document = window.context.document
    before = document.project.dataset.params
    panel = described.panels["data_check"]
    answer(measurer, [reading("classes", "names"), reading("parts", "none")])
    click(qtbot, panel.open_button)
    assert heading_buttons(panel) == {}
    panel.list.selectAll()
    assert [button.text() for button in panel.detail.buttons] == ["Keep all 2 as they are"]
    panel.list.setCurrentIndex(panel.rows.index(1))
    press(panel, qtbot, "Use names")
    assert document.project.dataset.params == {**before, "classes": "names"}


def test_chosen_findings_of_several_kinds_have_no_action_in_common(panel, qtbot):
    click(qtbot, panel.open_button)
    panel.list.selectAll()
    assert panel.detail.title.text() == "4 findings chosen"
    assert panel.detail.buttons == []
    assert "several kinds" in panel.detail.message.text()


def test_label_errors_are_grouped_and_show_the_most_similar_images(
    described, measurer, window, qtbot
):
    panel = described.panels["data_check"]
    found = [doubtful(1, "cat", "R & D", 0.9), doubtful(2, "dog", "cat", 0.8)]
    answer(measurer, [*found, doubtful(3, "cat", "R & D", 0.7)])
    click(qtbot, panel.open_button)
    assert titles(panel)[::2][:1] == ["Suspicious labels: “cat” → “R & D”"]
    assert panel.detail.nearest.isVisible()
    assert "image" in panel.detail.nearest.accessibleName().lower()
    assert panel.detail.buttons[0].text() == "Relabel as “R && D”", "no mnemonic"
    document = window.context.document
    press(panel, qtbot, "Relabel as “R && D”")
    assert document.undo_stack.undoText().startswith("Relabel as “R && D”: "), "nor in the menu"
    document.undo_stack.undo()
    (relabel,) = (each for each in heading_buttons(panel).values() if "(2)" in each.text())
    assert relabel.text() == "Relabel as “R && D” (2)"
    click(qtbot, relabel)
    assert set(document.project.edits.labels.values()) == {"R & D"}
    assert titles(panel) == ["Suspicious labels: “dog” → “cat”", "“dog”, or “cat”?"]
    press(panel, qtbot, "Relabel as “cat”")
    assert document.undo_stack.undoText() == "Relabel as “cat”: “dog”, or “cat”?"


def test_what_was_found_stays_until_the_next_check_has_found_something(panel, measurer, qtbot):
    click(qtbot, panel.open_button)
    click(qtbot, panel.labels_button)
    assert len(titles(panel)) == 6
    assert panel.window().status.findings.text() == "4 data findings"
    _, reply = measurer.of(CheckData)[-1]
    reply(DataFindings(findings=[tiny(20)]))
    assert titles(panel) == ["Tiny images", "Tiny 20"]
    click(qtbot, panel.check_button if panel.check_button.isVisible() else panel.cancel_button)


def test_a_check_without_findings_ends_the_old_ones(panel, measurer, qtbot):
    click(qtbot, panel.check_button)
    _, reply = measurer.of(CheckData)[-1]
    reply(DataCheckReport(counts=[], num_images=20, seconds=0.1, notes=["One note."]))
    assert titles(panel) == []
    assert panel.summary.text() == "No findings. 20 images checked. One note."


def test_why_the_images_cannot_be_read_is_not_behind_the_findings(panel, described, qtbot):
    click(qtbot, panel.open_button)
    assert panel.is_open
    described.state.failed.emit(DatasetError("There is no such folder."))
    assert not panel.is_open
    assert described.panels["data_contents"].isVisible()


def test_an_edit_leaves_what_is_known_of_the_images(panel, described, service, qtbot):
    state = described.state
    asked = len(service.of(DescribeData))
    click(qtbot, panel.open_button)
    press(panel, qtbot, "Leave out")
    press(panel, qtbot, "Leave out")
    assert state.description is not None, "no counts vanish"
    qtbot.waitUntil(lambda: len(service.of(DescribeData)) > asked)
    assert len(service.of(DescribeData)) == asked + 1, "once for both edits"


def test_versions_are_saved_and_gone_back_to_in_one_step_each(panel, window, qtbot, monkeypatch):
    document, versions = window.context.document, panel.versions
    monkeypatch.setattr("workbench.gui.data.check.ask_text", lambda *_: " before & after ")
    versions.ask_name()
    click(qtbot, panel.open_button)
    press(panel, qtbot, "Leave out")
    versions.fill()
    (entry,) = (each for each in versions.menu_.actions() if each.menu() is not None)
    assert entry.text().startswith("before && after, 20")
    assert entry.text().endswith(": different: 1 image left out")
    back, delete = entry.menu().actions()
    back.trigger()
    assert document.project.edits == DataEdits()
    document.undo_stack.undo()
    assert document.project.edits.left_out
    document.undo_stack.undo()
    assert [each.name for each in document.project.data_versions] == ["before & after"]
    document.undo_stack.redo()
    answers = iter((1, 0))
    monkeypatch.setattr("workbench.gui.data.check.ask_choice", lambda *_, **__: next(answers))
    delete.trigger()
    assert document.project.data_versions
    delete.trigger()
    assert document.project.data_versions == ()
    monkeypatch.setattr("workbench.gui.data.check.ask_text", lambda *_: None)
    versions.ask_name()
    assert document.project.data_versions == ()
    versions.use("gone")
    assert document.project.edits.left_out


def action(key, title="Do", **more):
    return Action(key, title, **more)


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([], ""),
        ([action("keep", "Keep as it is")], ""),
        ([action("keep_1", "Use only one of them")], "Use only one of them"),
        ([action("keep_1"), action("keep_1")], "Use one of each (2)"),
        ([action("leave_out", "Leave out", left_out=("1",))], "Leave out"),
        ([action("leave_out", left_out=("1",))] * 1_200, "Leave out all 1,200"),
        ([action("relabel", "A"), action("relabel", "B")], "Relabel all 2 as suggested"),
        ([action("relabel", "Relabel as “A”")] * 2, "Relabel as “A” (2)"),
        ([action("balance", "Use balanced class weights")], "Use balanced class weights"),
        ([action("relabel", "A"), action("keep_1", "B")], "Settle all 2 as suggested"),
    ],
)
def test_words_of_what_settles_several(actions, words):
    assert settle_words(actions) == words


def test_settled_findings_that_are_chosen_are_shown_without_actions(panel, qtbot):
    click(qtbot, panel.open_button)
    panel.findings.apply_to_all([0, 1])
    panel.switch.chosen.emit("settled")
    panel.list.selectAll()
    assert panel.detail.title.text() == "2 findings chosen"
    assert panel.detail.buttons == []
