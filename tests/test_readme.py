"""README and changelog: their length, and commands, files and extras that are really there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from workbench.cli import main

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
CHANGELOG = (ROOT / "packaging/CHANGELOG.md").read_text("utf-8")
COMMANDS = sorted(set(re.findall(r"^workbench ([a-z-]+)", README, re.MULTILINE)))


def test_it_is_short():
    assert len(README.split()) <= 900


def test_installing_and_privacy_are_on_the_first_screen():
    before = README[: README.index("## Installing")]
    assert len(before.splitlines()) <= 14
    assert "Nothing leaves this computer" in before
    assert "no telemetry" in before


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_one(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"workbench {command}" in capsys.readouterr().out


def test_each_file_and_picture_is_there():
    named = re.findall(r"`((?:packaging|workbench|tests|resources)/[\w./-]+)`", README)
    named += re.findall(r"\]\(([\w./-]+)\)", README)
    named += re.findall(r"bash (packaging/\w+\.sh)", README)
    assert len(named) > 8
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_what_is_installed_from_this_folder_are_extras():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = re.findall(r'install "\.\[(\w+)\]"', README)
    assert named
    assert set(named) <= project["optional-dependencies"].keys()
    assert "model-workbench[" not in README  # on no index


def test_each_version_of_the_changelog_is_readable():
    sections = re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1:]
    assert len(sections) > 1
    for section in sections:
        assert len(section.splitlines()) <= 60, section.splitlines()[0]
