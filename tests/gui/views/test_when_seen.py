"""Work for a hidden widget waits until it is shown: the newest alone, and once."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.gui.classify.state import WhenSeen


def test_of_what_comes_while_it_is_hidden_only_the_newest_is_done_and_once(qtbot):
    outer = QWidget()
    qtbot.addWidget(outer)
    inner = QWidget(outer)
    when_seen, done = WhenSeen(inner), []
    when_seen.do(lambda: done.append("first"))
    when_seen.do(lambda: done.append("second"))
    assert done == []
    outer.show()
    when_seen.do(lambda: done.append("third"))
    assert done == ["third"]  # at once
    outer.hide()
    when_seen.do(lambda: done.append("fourth"))
    outer.show()
    qtbot.waitUntil(lambda: done == ["third", "fourth"])
    outer.hide()
    outer.show()
    qtbot.wait(0)
    assert done == ["third", "fourth"]


def test_what_is_hidden_again_before_its_turn_is_not_done(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    when_seen, done = WhenSeen(widget), []
    when_seen.do(lambda: done.append("work"))
    widget.show()
    widget.hide()
    qtbot.wait(0)
    assert done == []
    widget.show()
    qtbot.waitUntil(lambda: done == ["work"])
