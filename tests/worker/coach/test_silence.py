"""No rule reports anything on a template's normal run, after any of its epochs; in small what
`bash packaging/prove.sh coach` trains whole.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.proofs.coach import moments
from workbench.core.projects.project import Choice
from workbench.templates import find_template

pytestmark = pytest.mark.worker


@pytest.fixture
def ten_classes(tmp_path):
    """An npz file of noisy 28 x 28 images of ten classes: where a bright bar begins."""
    random = np.random.default_rng(5)
    labels = np.arange(2_400) % 10
    x = random.integers(0, 150, (len(labels), 28, 28, 1), dtype=np.uint8)
    for row in range(4):
        x[np.arange(len(labels)), 4 + 2 * labels + row // 2, 6 + row * 4 : 10 + row * 4] += 100
    path = tmp_path / "bars.npz"
    np.savez(
        path, x_train=x[:2_000], y_train=labels[:2_000], x_test=x[2_000:], y_test=labels[2_000:]
    )
    return path


@pytest.mark.parametrize("name", ["lenet5", "fashion_convnet"])
def test_a_template_is_silent_after_each_epoch(train_here, ten_classes, name):
    project = find_template(name).project
    recipe = project.recipe.with_values(batch_size=50, epochs=6, precision="float32", xla="off")
    data = Choice("npz", {"path": str(ten_classes)})
    trained = train_here(replace(project, dataset=data, recipe=recipe))
    found = list(moments(trained.run))
    assert [moment.epoch for moment in found] == list(range(1, 7))
    assert [each for moment in found for each in (*moment.alarms, *moment.true)] == []
