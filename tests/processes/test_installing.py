"""Parts that are installed by pip itself, from a wheel in a folder: nothing is fetched."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import pytest

from workbench.errors import RunError
from workbench.parts import Part
from workbench.processes import installing
from workbench.processes.installing import install

NAME = "workbench_tried_part"


def part(*requirements):
    return Part(
        key="tried",
        library="Tried",
        purpose="a test",
        modules=(NAME,),
        packages=(NAME,),
        requirements=requirements or (NAME,),
    )


@pytest.fixture
def index(tmp_path, monkeypatch):
    """pip finds a wheel in a folder, and installs into another one that is on the search path."""
    wheels, target = tmp_path / "wheels", tmp_path / "target"
    wheels.mkdir()
    target.mkdir()
    for name in ("PIP_CONFIG_FILE", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_TARGET", str(target))
    monkeypatch.syspath_prepend(str(target))
    return wheels


def add_wheel(folder, *needs):
    info = f"{NAME}-1.0.dist-info"
    lines = "".join(f"Requires-Dist: {need}\n" for need in needs)
    with zipfile.ZipFile(folder / f"{NAME}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{NAME}.py", "VALUE = 7\n")
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n{lines}"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


def test_a_part_is_installed_and_found_at_once(index):
    add_wheel(index)
    said = []
    assert not part().is_installed
    install(part(), on_progress=said.append, check=lambda: None)
    assert part().is_installed
    assert any(line.startswith("Successfully installed") for line in said)


def test_the_line_in_a_terminal_does_the_same(index, tmp_path):
    add_wheel(index)
    line = part().install_command
    subprocess.run(["bash", "-c", line], cwd=tmp_path, check=True, capture_output=True)
    assert part().is_installed


def test_canceled_while_packages_are_looked_for_nothing_is_installed(index):
    add_wheel(index)

    def cancel():
        raise RunError("Canceled.")

    with pytest.raises(RunError, match="Canceled"):
        install(part(), on_progress=lambda _line: None, check=cancel)
    assert not part().is_installed


def test_it_is_not_broken_off_while_packages_are_written(index):
    add_wheel(index)
    said = []

    def cancel_late():
        if any(line.startswith("Installing collected packages") for line in said):
            raise RunError("Canceled.")

    install(part(), on_progress=said.append, check=cancel_late)
    assert part().is_installed


def test_packages_that_are_in_use_stay_as_they_are(index):
    add_wheel(index, "numpy<1")
    with pytest.raises(
        RunError, match="other versions of packages that Workbench is using"
    ) as caught:
        install(part(), on_progress=lambda _line: None, check=lambda: None)
    assert part().install_command in caught.value.fix
    assert "Close Workbench" in caught.value.fix


def test_without_a_network_it_says_so(index, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    # Nothing listens there: pip meets what it meets on a computer without a network.
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(RunError, match="no connection to the package index") as caught:
        install(part(), on_progress=lambda _line: None, check=lambda: None)
    assert "Nothing was changed" in caught.value.fix


def test_what_does_not_exist_is_told_with_the_words_of_pip(index):
    with pytest.raises(RunError, match="Tried could not be installed") as caught:
        install(part(), on_progress=lambda _line: None, check=lambda: None)
    assert "No matching distribution" in caught.value.received


def test_what_cannot_be_found_afterwards_needs_a_restart(index):
    add_wheel(index)
    other = Part(
        key="tried", library="Tried", purpose="x", modules=("no_such_module",), packages=(NAME,),
        requirements=(NAME,),
    )  # fmt: skip
    with pytest.raises(RunError, match="cannot be found"):
        install(other, on_progress=lambda _line: None, check=lambda: None)


def test_uv_gets_the_constraints_without_the_options_of_pip(tmp_path):
    words = ["/usr/bin/uv", "pip", "install", "--python", sys.executable, "x"]
    assert installing._careful(words, tmp_path) == [
        "/usr/bin/uv", "pip", "install", "--constraint", str(tmp_path), "--python", sys.executable, "x",
    ]  # fmt: skip
