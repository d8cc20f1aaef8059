"""SOURCE texts and the registry of data sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.params import check_all, defaults
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import parse_source
from workbench.datasets import all_datasets
from workbench.errors import UsageError


def test_every_data_set_says_what_it_is():
    datasets = all_datasets()
    assert {"fashion_mnist", "folder", "npz", "cifar10", "cifar100", "mnist", "kmnist"} <= set(
        datasets
    )
    for spec in datasets.values():
        assert spec.title
        assert spec.summary.endswith(".")
        assert bool(spec.license) == (not spec.source_param)
        assert all(param.help for param in spec.params)
        assert check_all(spec.params, {})[1] == []
        assert spec.source_param in {"", *(param.key for param in spec.params)}
        if spec.num_train:
            assert spec.shape or not spec.program  # a program of arrays has images of one size
            assert len(set(spec.class_names)) == len(spec.class_names) >= 5


def test_plain_and_path_sources(tmp_path, monkeypatch):
    datasets = all_datasets()
    assert parse_source("fashion_mnist", datasets) == Choice("fashion_mnist", {})
    monkeypatch.chdir(tmp_path)
    choice = parse_source("folder:some where/a:b", datasets)
    others = defaults(datasets["folder"].params)
    assert choice.params == {**others, "path": str(tmp_path / "some where" / "a:b")}
    assert parse_source("npz:~/x.npz", datasets).params["path"] == str(Path("~/x.npz").expanduser())


@given(key=st.sampled_from(["folder", "npz"]), name=st.from_regex(r"[^/\0]{1,30}", fullmatch=True))
def test_any_path_is_kept_and_read_back_as_it_is(key, name):
    datasets = all_datasets()
    text = f"{key}:/data/{name}".strip()
    choice = parse_source(text, datasets)
    path = text.removeprefix(f"{key}:")
    assert choice.params["path"] == os.path.abspath(path)  # noqa: PTH100 - text, no I/O
    assert parse_source(f"{key}:{choice.params['path']}", datasets) == choice


def test_settings_stand_behind_a_question_mark():
    choice = parse_source("folder:/data/a?b?fit=pad", all_datasets())
    assert choice == Choice("folder", {**choice.params, "path": "/data/a?b", "fit": "pad"})


@pytest.mark.parametrize("text", ["/data/a?b=c", "/data/a?", "/data/a?fit", "/data/a?path=x"])
def test_what_is_no_setting_belongs_to_the_path(text):
    assert parse_source(f"folder:{text}", all_datasets()).params["path"] == text


def test_a_setting_of_a_wrong_value_is_refused():
    with pytest.raises(UsageError, match="Fit cannot be"):
        parse_source("folder:/data?fit=shrink", all_datasets())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fashion_mnst", "Did you mean fashion_mnist?"),
        ("", "nothing"),
        ("folder", "folder:PATH"),
        ("npz:", "npz:PATH"),
        ("mnist:3", "takes no value after a colon"),
        ("./pictures", 'written "folder:./pictures"'),
        ("folder:a\0b", "cannot be"),
    ],
)
def test_wrong_sources(text, words):
    with pytest.raises(UsageError) as caught:
        parse_source(text, all_datasets())
    assert words in str(caught.value)


def test_the_specs_come_without_pillow_and_tensorflow():
    code = (
        "import sys; from workbench.datasets import all_datasets; all_datasets();"
        "print([m for m in ('PIL', 'tensorflow', 'keras', 'tarfile', 'http.client') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
