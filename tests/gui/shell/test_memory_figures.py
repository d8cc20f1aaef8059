"""One estimate of the memory that training takes, one unit, wherever it is shown."""

from __future__ import annotations

from workbench.core.format import memory_text
from workbench.gui.design.inspector import InspectorPanel
from workbench.templates import find_template


def test_status_line_inspector_and_the_terminal_show_the_same(window, qtbot):
    window.context.document.new(find_template("cifar10_convnet").project)
    window.show_view("design")
    estimator = window.context.estimator
    qtbot.waitUntil(lambda: estimator.prediction is not None)
    window.context.document.set_recipe(batch_size=1_024)
    estimate = estimator.prediction
    figure, limit = window.status.text("Memory").split(" of ")
    (inspector,) = window.findChildren(InspectorPanel)
    facts = inspector.facts.facts()
    assert facts["Training memory, batch 1,024"] == figure
    assert facts["of which activations"] == memory_text(estimate.activation_bytes)
    assert 0 < estimate.activation_bytes < estimate.memory_bytes
    assert f"training memory {figure} of {limit}" in estimate.sentence()
    assert (figure[-2:], limit[-2:]) == ("GB", "GB")
