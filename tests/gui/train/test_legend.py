"""The names of the runs above the plots."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.gui.train.plots.legend import Legend, LegendEntry


def test_every_name_has_its_place_when_the_runs_change(qtbot, context):
    page = QWidget()
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    legend = Legend(context.theme)
    column.addWidget(legend)
    page.resize(900, 200)
    page.show()
    qtbot.waitExposed(page)

    def show(*names):
        entries = [
            LegendEntry(name, name, "#16a34a", is_main=i == 0) for i, name in enumerate(names)
        ]
        legend.set_entries(entries, set())

    def have_places(*names):
        places = [legend.buttons[name].geometry() for name in names]
        assert all(not left.intersects(right) for left, right in pairwise(places))
        assert all(legend.rect().contains(place) for place in places)

    for names in (("a", "b", "c"), ("another", "b", "c"), ("c", "b"), ("a", "b", "c")):
        show(*names)
        qtbot.waitUntil(lambda names=names: have_places(*names))
