"""A training compares ONNX Runtime with TensorFlow, and believes TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.inference import onnx_runner
from workbench.inference.onnx_runner import OnnxRunner
from workbench.onnx.model import onnx_model
from workbench.protocol.events import LogLine
from workbench.protocol.trained.evaluate import Evaluate
from workbench.worker.saved_models.keras_runner import KerasRunner
from workbench.worker.trainer.after_training import NUM_COMPARED, load_runner

pytestmark = pytest.mark.worker


def test_a_run_is_classified_by_onnx_runtime_as_by_tensorflow(train_here, small_project, service):
    trained = train_here(small_project(precision="float32"))
    found = trained.run.model_card().onnx_check
    assert found.is_passed
    assert found.num_images == NUM_COMPARED
    assert type(load_runner(trained.run.path)) is OnnxRunner
    test = trained.training.test
    answer = service.done(Evaluate, model=str(trained.run.path))
    assert answer.loss == pytest.approx(test.loss, rel=1e-5)
    assert answer.accuracy == test.accuracy


def test_a_layer_that_is_written_wrongly_is_found(train_here, small_project, monkeypatch):
    """The bias of the scores is left out of the ONNX model: other probabilities."""

    def wrong(graph, layers, weights, **words):
        last = max(name for name in weights if name.endswith("/bias"))
        return onnx_model(graph, layers, {**weights, last: weights[last] + np.arange(3)}, **words)

    monkeypatch.setattr(onnx_runner, "onnx_model", wrong)
    trained = train_here(small_project(precision="float32"))
    found = trained.run.model_card().onnx_check
    assert not found.is_passed
    assert found.max_difference > 0.01
    (line,) = [each for each in trained.all(LogLine) if "classifies by TensorFlow" in each.text]
    assert line.level == "warning"
    monkeypatch.undo()
    assert type(load_runner(trained.run.path)) is KerasRunner
