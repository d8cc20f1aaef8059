"""The license of bundled images is shown in full where they are chosen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from workbench.assets import data_path
from workbench.core.projects.project import Choice
from workbench.datasets import all_datasets
from workbench.gui.data.source import DataSourcePanel, LicenseDialog


@pytest.fixture
def panel(window, qtbot):
    made = DataSourcePanel(window.context)
    qtbot.addWidget(made)
    made.show()
    return made


def test_sources_are_grouped_by_where_their_images_come_from(panel):
    box = panel.sources
    items = [(box.itemText(row), box.itemData(row)) for row in range(box.count())]
    headings = [text for text, key in items if key is None]
    assert headings == ["Included", "Downloads", "Your files"]
    texts = {key: text for text, key in items}
    assert "MB" in texts["cifar10"]
    order = [key for _, key in items]
    assert order.index("flowers1000") < order.index("cifar10") < order.index("csv")
    for row, (_, key) in enumerate(items):
        assert bool(box.model().index(row, 0).flags() & Qt.ItemFlag.ItemIsSelectable) is bool(key)


def test_the_photographers_of_bundled_photos_are_named(window, panel, qtbot):
    window.context.document.set_dataset(Choice("flowers1000"))
    shown = []

    def read() -> None:
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, LicenseDialog):
            QTimer.singleShot(20, read)
            return
        shown.append((dialog.windowTitle(), dialog.text.toPlainText()))
        dialog.reject()

    QTimer.singleShot(0, read)
    QTest.mouseClick(panel.license_button, Qt.MouseButton.LeftButton)
    ((title, text),) = shown
    assert "Flowers" in title
    assert text.count(".jpg by ") == 1_000
    assert "https://creativecommons.org/licenses/by/2.0/" in text


def test_only_what_has_a_license_text_offers_it(window, panel):
    for spec in all_datasets().values():
        window.context.document.set_dataset(Choice(spec.key, {}))
        assert panel.license_button.isVisible() == bool(spec.license_file)
        if spec.license_file:
            assert data_path(spec.license_file).read_text(encoding="utf-8")
