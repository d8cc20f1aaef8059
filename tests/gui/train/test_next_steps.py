"""What can be done with a run that is over: links, and a remark where there is room for it."""

from __future__ import annotations

from workbench.gui.train.banners import NextSteps


def test_the_remark_is_whole_or_left_out(qtbot):
    steps = NextSteps()
    qtbot.addWidget(steps)
    for part in (steps, steps.drop, *steps.buttons.values()):
        part.show()
    for width in range(500, 1100, 20):
        steps.resize(width, 40)
        qtbot.waitUntil(lambda width=width: steps.width() == max(width, steps.width()))
        assert steps.drop.text() in ("", steps.drop.full_text)
    assert steps.drop.text() == "or drop an image on the window"
    steps.resize(steps.minimumSizeHint().width(), 40)
    qtbot.waitUntil(lambda: steps.drop.text() == "")
