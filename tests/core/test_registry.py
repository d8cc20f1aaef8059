"""Plug-in folders: what a file in them must be."""

from __future__ import annotations

import importlib
import sys

import pytest

from workbench.core.registry import Registry
from workbench.errors import RegistryError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SPEC = 7", "declares no Spec."),
        ("", "declares no Spec."),
        ("from plugin_spec import Spec\nSPEC = Spec('other')", "named by its key"),
    ],
)
def test_a_plug_in_that_does_not_fit_its_folder_is_refused(tmp_path, monkeypatch, text, words):
    (tmp_path / "plugin_spec.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Spec:\n    key: str\n"
    )
    folder = tmp_path / f"plugins_{abs(hash(text))}"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "_helper.py").write_text("raise RuntimeError")  # not a plug-in: not imported
    (folder / "one.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    spec_type = importlib.import_module("plugin_spec").Spec
    with pytest.raises(RegistryError) as caught:
        Registry.from_package(folder.name, spec_type)
    assert words in caught.value.what
    assert caught.value.where == f"{folder.name}.one"
    sys.modules.pop("plugin_spec")


def test_specs_of_the_folder_and_of_its_files_are_in_one_registry(tmp_path, monkeypatch):
    (tmp_path / "small_spec.py").write_text(
        "from dataclasses import dataclass\n"
        "@dataclass\nclass Spec:\n    key: str\n    order: int = 0\n"
    )
    folder = tmp_path / "small_plugins"
    folder.mkdir()
    first = "from small_spec import Spec\n"
    (folder / "__init__.py").write_text(first + "SPECS = (Spec('b', 3), Spec('a', 1))")
    (folder / "c.py").write_text(first + "SPEC = Spec('c', 2)")
    monkeypatch.syspath_prepend(tmp_path)
    spec_type = importlib.import_module("small_spec").Spec
    assert list(Registry.from_package(folder.name, spec_type)) == ["a", "c", "b"]
    (folder / "a.py").write_text(first + "SPEC = Spec('a')")
    with pytest.raises(RegistryError, match="which no other has"):
        Registry.from_package(folder.name, spec_type)
    sys.modules.pop("small_spec")
