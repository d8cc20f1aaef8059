"""A batch that replicas share is edited as one replica's part: 128 × 8 = 1,024."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from workbench.core.projects.project import Choice
from workbench.gui.train.recipe import RecipePanel
from workbench.gui.train.state import TrainState


@pytest.fixture
def panel(qtbot, context):
    state = TrainState(context)
    panel = RecipePanel(state)
    qtbot.addWidget(panel)
    panel.resize(300, 900)
    panel.show()
    yield panel
    state.background.close()


@pytest.fixture
def box(panel):
    return panel.form.editor_widget("batch_size")


def on(replicas):
    return Choice("virtual", {"replicas": replicas})


def typed(qtbot, box, text):
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, text)
    qtbot.keyClick(box, Qt.Key.Key_Return)


def test_one_device_shows_the_batch_alone(box, context):
    context.document.set_recipe(batch_size=1_024)
    assert box.text() == "1,024"


def test_the_part_the_replicas_and_the_whole_are_shown(box, context):
    context.document.set_recipe(batch_size=1_024)
    context.document.set_target(on(8))
    assert box.text() == "128 × 8 = 1,024"
    assert "128 for each of 8 replicas, 1,024 together" in box.accessibleDescription()
    context.document.set_target(Choice("this_computer"))
    assert box.text() == "1,024"


def test_a_part_that_is_typed_sets_the_whole_as_one_step(qtbot, box, context):
    context.document.set_recipe(batch_size=1_024)
    context.document.set_target(on(8))
    typed(qtbot, box, "64")
    assert context.document.recipe.batch_size == 512
    assert box.text() == "64 × 8 = 512"
    context.document.undo_stack.undo()
    assert context.document.recipe.batch_size == 1_024
    assert box.text() == "128 × 8 = 1,024"


def test_a_step_of_the_arrows_adds_one_picture_to_each_replica(box, context):
    context.document.set_target(on(4))
    context.document.set_recipe(batch_size=64)
    box.stepUp()
    assert context.document.recipe.batch_size == 68


def test_a_batch_that_cannot_be_shared_says_what_is_trained_and_changes_nothing(box, context):
    context.document.set_recipe(batch_size=100)
    context.document.set_target(on(8))
    assert box.text() == "12 × 8 ≠ 100"
    assert context.document.recipe.batch_size == 100
    titles = [problem.title for problem in context.document.analysis.problems]
    assert "Batch not divisible by the replicas" in titles
    context.document.set_target(on(4))
    assert box.text() == "25 × 4 = 100"
    titles = [problem.title for problem in context.document.analysis.problems]
    assert "Batch not divisible by the replicas" not in titles


@pytest.mark.parametrize("batch_size", [1_020, 1_024, 16_384, 65_536])
def test_all_of_it_is_in_sight_at_the_width_that_the_panel_opens_with(box, context, batch_size):
    context.document.set_target(on(8))
    context.document.set_recipe(batch_size=batch_size)
    line = box.lineEdit()
    room = line.width() - line.textMargins().left()
    assert line.fontMetrics().horizontalAdvance(box.text()) < room


def test_the_largest_batch_is_still_allowed_and_no_larger_one(qtbot, box, context):
    context.document.set_target(on(8))
    typed(qtbot, box, "8192")
    assert context.document.recipe.batch_size == 65_536
    assert box.maximum() == 8_192
