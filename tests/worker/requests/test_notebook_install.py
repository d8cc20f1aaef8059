"""The first cell of an exported notebook, run as it is by a Python of its own with a real pip."""

from __future__ import annotations

import json
import os
import subprocess
import venv
import zipfile
from pathlib import Path

import pytest

from workbench.programs.texts import sections

INSTALL = sections("notebook.py")["install.py"]
PACKAGES = ("tensorflow", "tensorflow-tpu", "libtpu", "keras")
OFFERED = [
    *(("tensorflow-tpu", version) for version in ("2.18.0", "2.19.1", "2.20.0")),
    *(("libtpu", version) for version in ("0.0.10", "0.0.11")),
    *(("keras", version) for version in ("3.0.0", "3.15.1", "3.16.0")),
    ("tensorflow", "9.0.0"),
]
SHOWN = f"\nprint(__import__('json').dumps([HAS_TPU, [installed(p) for p in {PACKAGES}]]))\n"


def make_wheel(folder: Path, name: str, version: str) -> None:
    """A package of one module with a version."""
    module = name.replace("-", "_")
    about = f"{module}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{module}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{module}.py", f'__version__ = "{version}"\n')
        wheel.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(
            f"{about}/RECORD",
            f"{module}.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n",
        )


@pytest.fixture
def elsewhere(tmp_path):
    """A function (code) -> result: a Python with an ordinary TensorFlow, whose pip finds some
    versions of each package and no index.
    """
    if any(Path("/dev").glob("accel[0-9]*")) or any(Path("/dev/vfio").glob("[0-9]*")):
        pytest.skip("this computer has a TPU")
    offered = tmp_path / "offered"
    offered.mkdir()
    for name, version in OFFERED:
        make_wheel(offered, name, version)
    venv.create(tmp_path / "python", with_pip=True)
    environment = {
        **os.environ,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(offered),
        "PIP_CONFIG_FILE": os.devnull,
        "PYTHONPATH": "",
    }

    def run(*words):
        command = [str(tmp_path / "python/bin/python"), *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert run("-m", "pip", "install", "tensorflow==9.0.0", "keras==3.0.0").returncode == 0
    return lambda code: run("-c", code)


def test_only_a_tpu_is_a_reason_to_install_and_then_exactly_one_set_of_versions(elsewhere):
    done = elsewhere(INSTALL + SHOWN)
    assert json.loads(done.stdout) == [False, ["9.0.0", None, None, "3.0.0"]], done.stderr

    done = elsewhere("import keras\n" + INSTALL + "\ninstall()\n")
    assert done.returncode == 1
    assert "restart the session" in done.stderr
    done = elsewhere(INSTALL + SHOWN)
    assert json.loads(done.stdout) == [False, [None, "2.19.1", "0.0.10", "3.15.1"]], done.stderr

    done = elsewhere(INSTALL + "\ninstall()\n")
    assert done.returncode == 0, done.stderr
