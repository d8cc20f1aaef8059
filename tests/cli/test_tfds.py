"""Data sets of TensorFlow Datasets, read by the commands with the real package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from workbench.parts import TFDS

ROOT = Path(__file__).resolve().parents[2]
NAMES = ["clouds", "grass"]

# The package writes the data set as it would after a download: into the cache of the program.
PREPARE = """
import sys
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

image, label, names = sys.argv[2], sys.argv[3], sys.argv[4:]
random = np.random.default_rng(1)

def part(number):
    return tf.data.Dataset.from_tensor_slices({
        image: random.integers(0, 256, (number, 20, 30, 3), np.uint8),
        label: np.arange(number) % len(names),
        "weight": np.arange(number, dtype=np.float32),
    })

tfds.dataset_builders.store_as_tfds_dataset(
    name="tiny_photos",
    version="1.0.0",
    data_dir=sys.argv[1],
    split_datasets={"train": part(12), "test": part(6)},
    features=tfds.features.FeaturesDict({
        image: tfds.features.Image(shape=(20, 30, 3)),
        label: tfds.features.ClassLabel(names=names),
        "weight": tfds.features.Scalar(np.float32),
    }),
)
"""


def run(*command: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "WORKBENCH_HOME": str(home), "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def data_check(source: str, home: Path) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", "workbench", "data", "check", source, "--json", home=home)


@pytest.mark.parametrize("keys", [("image", "label"), ("picture", "kind")])
def test_a_prepared_data_set_has_its_parts_and_class_names(tmp_path, keys):
    folder = tmp_path / "cache" / "tfds"
    made = run(sys.executable, "-c", PREPARE, str(folder), *keys, *NAMES, home=tmp_path)
    assert made.returncode == 0, made.stderr
    checked = data_check("tfds:tiny_photos", tmp_path)
    assert checked.returncode == 0, checked.stderr
    classes = json.loads(checked.stdout)["classes"]
    assert [(each["class"], each["train"], each["test"]) for each in classes] == [
        (name, 6, 3) for name in NAMES
    ]


def test_a_name_that_is_not_in_the_catalog(tmp_path):
    checked = data_check("tfds:no_such_photos", tmp_path)
    assert checked.returncode == 3
    assert "Dataset no_such_photos not found" in checked.stdout
    assert len(checked.stdout) < 2_000  # and not the whole catalog
    assert data_check("tfds:huggingface:anything", tmp_path).returncode == 2


def test_the_package_missing_names_the_line_that_installs_it(tmp_path):
    (tmp_path / "tensorflow_datasets.py").write_text("raise ImportError")
    code = "import sys; from workbench.cli import main; sys.exit(main(sys.argv[1:]))"
    environment = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "WORKBENCH_HOME": str(tmp_path)}
    checked = subprocess.run(
        [sys.executable, "-c", code, "data", "check", "tfds:tf_flowers"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 3, checked.stderr
    assert TFDS.install_command in checked.stderr
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "tfds" in extras["optional-dependencies"]
