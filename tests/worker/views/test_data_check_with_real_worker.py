"""The data check in the data view, with real workers: own images, found, settled and undone."""

from __future__ import annotations

import pytest
from PIL import Image
from PySide6.QtCore import Qt

from tests.class_folders import write_photos
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice
from workbench.gui.data.view import DataView
from workbench.gui.panels import panels_of

pytestmark = pytest.mark.worker

WAIT_MS = 120_000


def test_own_images_are_checked_settled_and_undone(qtbot, context, tmp_path):
    data = write_photos(tmp_path / "data", 6)
    dog = Image.open(data / "dog" / "5.png")
    dog.save(data / "cat" / "a dog.jpg", quality=70)
    document = context.document
    document.set_dataset(Choice("folder", {"path": str(tmp_path / "data"), "fit": "crop"}))
    view = DataView(context, panels_of("data"))
    qtbot.addWidget(view)
    view.resize(1200, 800)
    view.show()
    panel = view.panels["data_check"]
    qtbot.waitUntil(lambda: panel.findings.report is not None, timeout=WAIT_MS)
    assert panel.summary.text() == "1 finding. 13 images checked."
    qtbot.mouseClick(panel.open_button, Qt.MouseButton.LeftButton)
    assert panel.detail.title.text() == "Nearly the same, in two classes"
    (finding,) = panel.findings.found
    pictures = panel._pictures

    def has_arrived():
        found = [pictures.pixmap(image) for image in finding.images]
        return all(each is not None and not each.isNull() for each in found)

    qtbot.waitUntil(has_arrived, timeout=WAIT_MS)
    qtbot.mouseClick(panel.detail.buttons[0], Qt.MouseButton.LeftButton)
    assert document.project.edits.left_out
    assert panel.summary.text() == "1 finding, 1 fixed. 13 images checked."
    counted = []
    view.state.described.connect(counted.append)  # training does without it, too
    qtbot.waitUntil(lambda: bool(counted), timeout=WAIT_MS)
    assert counted[-1].num_train + counted[-1].num_test + counted[-1].num_validation == 12
    document.undo_stack.undo()
    assert document.project.edits == DataEdits()
    assert panel.summary.text() == "1 finding. 13 images checked."
