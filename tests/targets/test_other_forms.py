"""Targets named as old tutorials do, and the one that is chosen by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from workbench.core.projects.project import Choice
from workbench.core.projects.texts import automatic_target, parse_target, target_text
from workbench.errors import RunError, TpuError, UsageError
from workbench.hardware.tpu_host import TpuHost
from workbench.targets import all_targets, gpu

ROOT = Path(__file__).resolve().parents[2]


def parsed(text):
    return target_text(parse_target(text, all_targets()), all_targets())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("grpc://10.0.0.2:8470", "tpu:grpc://10.0.0.2:8470"),
        ("GRPC://10.0.0.2:8470/", "tpu:grpc://10.0.0.2:8470"),
        ("grpc://my-tpu:9000", "tpu:grpc://my-tpu:9000"),
        ("10.240.1.2:8470", "tpu:grpc://10.240.1.2:8470"),
        ("my-tpu:8470", "tpu:grpc://my-tpu:8470"),
        ("tpu:10.0.0.2:8470", "tpu:grpc://10.0.0.2:8470"),
        ("tpu:grpc://10.0.0.2:8470", "tpu:grpc://10.0.0.2:8470"),
        ("COLAB_TPU_ADDR", "tpu:grpc://10.9.8.7:8470"),
        ("$COLAB_TPU_ADDR", "tpu:grpc://10.9.8.7:8470"),
        ("grpc://$COLAB_TPU_ADDR", "tpu:grpc://10.9.8.7:8470"),
        ("'grpc://' + os.environ['COLAB_TPU_ADDR']", "tpu:grpc://10.9.8.7:8470"),
    ],
)
def test_forms_of_old_tutorials_are_understood(text, expected, monkeypatch):
    monkeypatch.setenv("COLAB_TPU_ADDR", "10.9.8.7:8470")
    assert parsed(text) == expected


@pytest.mark.parametrize("text", ["virtual:8", "ssh:me@h:8470", "this_computer"])
def test_other_targets_stay_what_they_are(text):
    assert parse_target(text, all_targets()).key == text.partition(":")[0]


def test_an_address_with_another_port_is_no_tpu():
    with pytest.raises(UsageError, match="There is no such target"):
        parse_target("10.0.0.2:2222", all_targets())


@pytest.mark.parametrize("text", ["grpc://", "grpc://h", "grpc://h:0", "grpc://h:99999"])
def test_an_address_that_cannot_be_one_is_refused(text):
    with pytest.raises(UsageError, match="grpc address"):
        parse_target(text, all_targets())


def test_a_variable_that_is_not_set_is_named(monkeypatch):
    monkeypatch.delenv("COLAB_TPU_ADDR", raising=False)
    with pytest.raises(UsageError, match="COLAB_TPU_ADDR is not set") as caught:
        parse_target("COLAB_TPU_ADDR", all_targets())
    assert "notebook" in caught.value.fix


# auto ------------------------------------------------------------------------------------------------


def test_without_tpu_and_gpu_auto_is_this_computer_and_says_so(monkeypatch):
    monkeypatch.setattr(gpu, "cards", list)
    choice, why = automatic_target(all_targets())
    assert choice == Choice("this_computer")
    assert "No NVIDIA GPU in this computer." in why
    assert "Training on: This computer" in why
    assert "TPU" in why
    assert parsed("auto") == "this_computer"


def test_auto_takes_gpus_before_this_computer(monkeypatch):
    monkeypatch.setattr(gpu, "cards", lambda: [0, 1])
    monkeypatch.setattr(gpu, "_has_cuda", lambda: True)
    choice, why = automatic_target(all_targets())
    assert choice.key == "gpu"
    assert "Training on: GPU" in why


def test_cuda_of_an_environment_is_found_as_conda_installs_it(tmp_path, monkeypatch):
    monkeypatch.setattr(gpu, "cards", lambda: [0])
    monkeypatch.setattr(gpu, "find_library", lambda _name: None)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert isinstance(gpu.SPEC.probe({"devices": "all"}), RunError)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libcudnn.so.9").touch()
    assert gpu.SPEC.probe({"devices": "all"}) is None


def test_a_gpu_that_tensorflow_cannot_use_is_passed_over_with_the_reason(monkeypatch):
    monkeypatch.setattr(gpu, "cards", lambda: [0])
    monkeypatch.setattr(gpu, "_has_cuda", lambda: False)
    choice, why = automatic_target(all_targets())
    assert choice.key == "this_computer"
    assert "TensorFlow finds no GPU." in why


def test_auto_takes_a_tpu_first(monkeypatch):
    monkeypatch.setattr(TpuHost, "problem", lambda _self: None)
    monkeypatch.setattr(gpu, "cards", lambda: [0])
    choice, why = automatic_target(all_targets())
    assert choice.key == "tpu"
    assert why.startswith("Training on: TPU")


def test_a_busy_tpu_is_named_with_its_remedy(monkeypatch):
    busy = TpuError("The TPU is used by another process.", fix="End it.")
    monkeypatch.setattr(TpuHost, "problem", lambda _self: busy)
    monkeypatch.setattr(TpuHost, "chips", lambda _self: ["/dev/accel0"])
    monkeypatch.setattr(gpu, "cards", list)
    _, why = automatic_target(all_targets())
    assert why.startswith("The TPU is used by another process. End it.")


def test_a_gpu_without_cuda_is_refused_before_tensorflow_starts(monkeypatch):
    monkeypatch.setattr(gpu, "cards", lambda: [0])
    monkeypatch.setattr(gpu, "_has_cuda", lambda: False)
    problem = gpu.SPEC.probe({"devices": "all"})
    assert isinstance(problem, RunError)
    assert "and-cuda" in problem.fix


@pytest.mark.worker
def test_the_command_says_which_target_was_taken_and_why(tmp_path):
    own = {"WORKBENCH_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}

    def workbench(*words):
        return subprocess.run(
            [sys.executable, "-m", "workbench", *words],
            env={**os.environ, **own}, cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip

    made = workbench("new", "fashion_convnet", "p.workbench")
    assert made.returncode == 0, made.stderr
    x, y = np.zeros((60, 28, 28), np.uint8), np.arange(60) % 10
    np.savez(tmp_path / "small.npz", x_train=x, y_train=y, x_test=x, y_test=y)
    words = (
        "--target",
        "auto",
        "--data",
        "npz:small.npz",
        "--epochs",
        "1",
        "--batch",
        "20",
        "--json",
    )
    done = workbench("train", "p.workbench", *words)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    (started,) = [event for event in events if event["event"] == "run_started"]
    assert "Training on: This computer" in started["target_reason"]
    assert started["target"] == "this_computer"
    assert started["target_reason"] in done.stderr
    refused = workbench("train", "p.workbench", "--target", "grpc://127.0.0.1:9")
    assert refused.returncode == 4
    assert "TensorFlow 1 and 2" in refused.stderr
