"""`workbench find`: the dialogs' answers in the terminal, by a real service worker."""

from __future__ import annotations

import itertools
import json
from contextlib import nullcontext

import numpy as np
import pytest

from workbench.cli import _service, main
from workbench.protocol.service_call import ServiceCall

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def service():
    """One service worker for all commands."""
    with ServiceCall() as call:
        yield call


@pytest.fixture(autouse=True)
def _one_service(service, monkeypatch):
    monkeypatch.setattr(_service, "ServiceCall", lambda: nullcontext(service))


def write_rows(path, count):
    random = np.random.default_rng(0)
    y = np.arange(count) % 3
    x = random.integers(0, 90, (count, 8, 8, 1), np.uint8)
    x[np.arange(count), 1 + 2 * y] += 120
    np.savez(path, x_train=x, y_train=y, x_test=x[:60], y_test=y[:60])


@pytest.fixture
def project(tmp_path):
    """A linear classifier of 8 x 8 images with a bright row per class, at a rate far too low."""
    write_rows(tmp_path / "rows.npz", 500)
    path = tmp_path / "p.workbench"
    assert main(["new", "fashion_convnet", str(path)]) == 0
    plain = json.loads(path.read_text())
    dense = {"units": 3, "activation": "softmax"}
    kinds = {"input": {"shape": [8, 8, 1]}, "rescaling": {}, "flatten": {}, "dense": dense}
    plain["graph"] = {
        "nodes": [{"id": k, "kind": k, "name": k, "params": kinds[k]} for k in kinds],
        "edges": [{"source": a, "target": b, "port": 0} for a, b in itertools.pairwise(kinds)],
    }
    plain["dataset"] = {"key": "npz", "params": {"path": str(tmp_path / "rows.npz")}}
    plain["recipe"] |= {"learning_rate": 1e-6, "batch_size": 50, "epochs": 10, "steps_per_epoch": 8}
    path.write_text(json.dumps(plain))
    return path


def test_the_terminal_prints_the_answer_and_the_comparison(project, capsys):
    capsys.readouterr()
    assert main(["find", "learning-rate", str(project), "--json"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = answers[-1]
    assert {"suggested", "words", "verdict", "present", "good"} <= set(found)
    trials = [answer for answer in answers if answer["answer"] == "learning_rate_trial"]
    assert trials[0]["rate"] == found["present"] == 1e-6
    assert found["verdict"] == "change"
    assert main(["find", "learning-rate", str(project)]) == 0
    printed = capsys.readouterr()
    *tried, suggested = printed.out.splitlines()
    assert suggested == f"{found['suggested']:g}"
    assert len(tried) == len(trials)
    assert tried[0].split()[:2] == ["1e-06", str(trials[0]["steps"])]
    assert found["words"] in printed.err
    assert "is better than your rate 1e-06. Good range: " in found["words"]


def test_the_batch_size_comes_with_what_else_changes(project, tmp_path, capsys):
    write_rows(tmp_path / "rows.npz", 60)  # each size that has as many images takes seconds
    capsys.readouterr()
    assert main(["find", "batch-size", str(project), "--json"]) == 0
    *_, found = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert found["steps_per_epoch"] == 8
    assert found["images_per_epoch"] == 8 * found["suggested"]
    assert found["changes"][0].startswith(
        f"Steps per epoch stays 8, so an epoch trains on {8 * found['suggested']:,} images instead"
    )
    assert found["changes"][1].startswith("The learning rate stays 1e-06; square root scaling")
    assert found["learning_rate"] == 1e-6
