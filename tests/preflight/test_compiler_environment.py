"""The compiler's environment: what is shown and accepted before anything is installed. The
real download is a proof (`packaging/prove.sh tpu_compile`).
"""

from __future__ import annotations

import hashlib
import json
import zipfile

import platformdirs
import pytest

from workbench.assets import environment_lock
from workbench.cli import main
from workbench.core.storage.own_file import take_lock
from workbench.errors import InputError, SaveError, UsageError
from workbench.hardware.tpu_chips import chip_choice
from workbench.preflight import compiler_environment
from workbench.preflight.compile_answers import Compiled, CompilerCall, TooLarge
from workbench.preflight.compiler_environment import CompilerEnvironment
from workbench.runs.home import APP_NAME, cache_home

LICENCE = "Software under an agreement.\n"
STEP = """module @step {
  func.func public @main(%a: tensor<ROWSx256xf32>, %b: tensor<256x256xf32>) -> tensor<256xf32> {
    %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<ROWSx256xf32>, tensor<256x256xf32>) -> tensor<ROWSx256xf32>
    %d = stablehlo.sine %c : tensor<ROWSx256xf32>
    %e = stablehlo.dot_general %d, %d, contracting_dims = [0] x [0]
      : (tensor<ROWSx256xf32>, tensor<ROWSx256xf32>) -> tensor<256x256xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %f = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [0]
      : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
    return %f : tensor<256xf32>
  }
}
"""


def lock_sha256():
    return hashlib.sha256(environment_lock("compiler").read_bytes()).hexdigest()


def nobody(*_):
    return None


@pytest.fixture
def environment(tmp_path):
    return CompilerEnvironment(tmp_path / "compiler")


@pytest.fixture
def downloaded(environment):
    """As after a download, with a wheel that holds nothing but its license."""
    wheels = environment.home / "wheels"
    wheels.mkdir(parents=True)
    with zipfile.ZipFile(wheels / "libtpu-0.0.51-cp311-none-any.whl", "w") as wheel:
        wheel.writestr("libtpu/LICENSE", LICENCE)
    (wheels / "complete").write_text(lock_sha256())
    return environment


def test_versions_are_pinned_and_every_package_has_a_hash(environment):
    assert environment.packages == {"jax": "0.10.2", "jaxlib": "0.10.2", "libtpu": "0.0.51"}
    text = environment_lock("compiler").read_text()
    assert "http" not in text
    for block in text.replace("\\\n", " ").splitlines():
        assert "--hash=sha256:" in block


def test_the_license_comes_from_the_download(downloaded):
    terms = downloaded.license()
    assert terms.text == LICENCE.strip()
    assert terms.sha256 == hashlib.sha256(LICENCE.encode()).hexdigest()


def test_no_download_no_license(environment):
    with pytest.raises(InputError):
        environment.license()
    assert not environment.is_installed()


@pytest.mark.parametrize("accepted", ["", "yes", "0" * 64])
def test_nothing_is_installed_without_that_very_license(downloaded, accepted):
    with pytest.raises(UsageError) as error:
        downloaded.install(accepted, on_progress=nobody, check=nobody)
    assert error.value.expected == downloaded.license().sha256
    assert not (downloaded.home / "making").exists()
    assert not downloaded.is_installed()


def test_a_damaged_download_is_reported(downloaded):
    (wheel,) = (downloaded.home / "wheels").glob("*.whl")
    wheel.write_bytes(b"no archive")
    with pytest.raises(InputError) as error:
        downloaded.license()
    assert "workbench compiler remove" in error.value.fix


def test_a_download_of_other_versions_is_not_taken_for_ours(downloaded):
    (downloaded.home / "wheels" / "complete").write_text("0" * 64)
    assert not downloaded.is_downloaded()
    with pytest.raises(InputError):
        downloaded.license()


def test_two_installers_do_not_meet(downloaded):
    lock = take_lock(downloaded.home / "lock")
    assert lock is not None
    with pytest.raises(SaveError):
        downloaded.remove()
    assert downloaded.is_downloaded()


def test_an_environment_of_other_versions_is_not_taken_for_ours(environment):
    folder = environment.home / "environment"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").write_text("")
    stamp = {"lock_sha256": "0" * 64, "licence_sha256": "", "packages": {}}
    (folder / "installed.json").write_text(json.dumps(stamp))
    assert not environment.is_installed()
    stamp["lock_sha256"] = lock_sha256()
    (folder / "installed.json").write_text(json.dumps(stamp))
    assert environment.is_installed()
    assert environment.remove() > 0
    assert not environment.home.exists()


def test_a_full_disk_is_seen_before_downloading(environment, monkeypatch):
    usage = type("Usage", (), {"free": 1_000_000})
    monkeypatch.setattr(compiler_environment.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(SaveError) as error:
        environment.download(on_progress=nobody, check=nobody)
    assert "MB free" in error.value.received


def test_other_processors_are_refused(environment, monkeypatch, capsys):
    monkeypatch.setattr(compiler_environment.platform, "machine", lambda: "aarch64")
    assert "x86-64" in environment.why_not()
    assert main(["compiler", "install", "--json"]) == 2
    assert "x86-64" in json.loads(capsys.readouterr().out)["error"]["what"]


def test_the_command_shows_the_license_and_how_to_accept_it(capsys):
    assert main(["compiler", "status", "--json"]) == 1
    status = json.loads(capsys.readouterr().out)
    assert (status["installed"], status["downloaded"]) == (False, False)
    wheels = cache_home() / "compiler" / "wheels"
    wheels.mkdir(parents=True)
    with zipfile.ZipFile(wheels / "libtpu-0.0.51-cp311-none-any.whl", "w") as wheel:
        wheel.writestr("libtpu/LICENSE", LICENCE)
    (wheels / "complete").write_text(lock_sha256())
    assert main(["compiler", "install"]) == 1
    captured = capsys.readouterr()
    assert LICENCE.strip() in captured.out
    assert hashlib.sha256(LICENCE.encode()).hexdigest() in captured.err
    assert main(["compiler", "remove", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["freed_bytes"] > 0


def test_the_real_compiler_judges_where_it_is_installed(tmp_path):
    installed = CompilerEnvironment(platformdirs.user_cache_path(APP_NAME) / "compiler")
    if not installed.is_installed():
        pytest.skip("the TPU compiler is not installed: workbench compiler install")
    with CompilerCall(installed.python, tmp_path, check=nobody) as compiler:
        fits = compiler.compile(STEP.replace("ROWS", "1024"), chip_choice("v2"))
        too_large = compiler.compile(STEP.replace("ROWS", str(1 << 24)), chip_choice("v2"))
    assert isinstance(fits, Compiled)
    assert fits.flops >= 2 * 2 * 1024 * 256 * 256
    assert fits.needs_bytes > 1024 * 256 * 4
    assert isinstance(too_large, TooLarge)
    assert too_large.needs_bytes > too_large.has_bytes
    assert abs(too_large.has_bytes - chip_choice("v2").generation.hbm_bytes) < 1 << 20
    assert compiler.versions["libtpu"] == "0.0.51"
