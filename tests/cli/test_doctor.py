"""`doctor`, `targets` and what `train` refuses before anything is started."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.hostile import Listener
from workbench.checkup import doctor
from workbench.checkup.doctor import Finding, examine, offered_targets
from workbench.cli import main
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import parse_target
from workbench.hardware.tpu_host import TpuHost
from workbench.remote.ssh import saved_hosts
from workbench.remote.ssh.command import RemoteHost
from workbench.runs.home import runs_home
from workbench.targets import all_targets
from workbench.targets.gpu import cards

HAS_CHIP = bool(TpuHost().chips())


def _lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_doctor_finds_this_computer_well(capsys):
    assert main(["doctor", "--json"]) == 0
    lines = _lines(capsys)
    assert all(set(line) == {"check", "ok", "words", "fix"} for line in lines)
    assert {"python", "train", "memory", "disk", "this_computer"} <= {
        line["check"] for line in lines
    }
    assert all(line["ok"] for line in lines)


def test_a_part_that_is_not_installed_is_not_called_ok(capsys, monkeypatch):
    part = replace(doctor.PARTS[-1], key="other", modules=("no_such_module_of_any_package",))
    monkeypatch.setattr(doctor, "PARTS", (part,))
    assert main(["doctor"]) == 0
    assert "–  other          not installed" in capsys.readouterr().out


@pytest.mark.skipif(HAS_CHIP, reason="there is a TPU")
def test_the_doctor_says_what_a_target_lacks(capsys):
    assert main(["doctor", "tpu:local", "--json"]) == 1
    last = _lines(capsys)[-1]
    assert (last["check"], last["ok"]) == ("tpu:local", False)
    assert "No TPU in this computer" in last["words"]
    assert "ssh:HOST/tpu:local" in last["fix"]
    assert main(["doctor", "tpu:local"]) == 1
    assert "no  tpu:local" in capsys.readouterr().out


def test_the_doctor_answers_a_grpc_address_with_the_way_of_today(capsys):
    with Listener() as listener:
        assert main(["doctor", f"tpu:grpc://127.0.0.1:{listener.port}", "--json"]) == 1
        assert listener.greetings == []
    last = _lines(capsys)[-1]
    assert "no longer be reached by a grpc address" in last["words"]
    assert "2025-04-25" in last["fix"]
    assert "ssh:HOST/tpu:local" in last["fix"]


def test_the_doctor_refuses_what_is_no_target(capsys):
    assert main(["doctor", "tpu:-x", "--json"]) == 2
    assert main(["doctor", "cray"]) == 2


def test_a_folder_that_cannot_be_made_is_found(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "file" / "home"))
    found = {finding.check: finding for finding in examine(Choice("this_computer"))}
    assert not found["runs folder"].ok
    assert "WORKBENCH_HOME" in found["runs folder"].fix


def test_little_room_is_found(monkeypatch):
    monkeypatch.setattr(doctor, "_LOW_DISK_BYTES", 1 << 62)
    monkeypatch.setattr(doctor, "memory_limit", lambda: 10**9)
    found = {finding.check: finding for finding in examine(Choice("this_computer"))}
    assert (found["disk"].ok, found["memory"].ok) == (False, False)
    assert found["disk"].fix
    assert found["memory"].fix


def test_another_computer_is_looked_at_over_its_line():
    """The function that connects is handed in: it is not imported here."""

    def far(target):
        yield Finding("python there", ok=True, words=target.params["address"])

    there = parse_target("tpu:mine", all_targets())
    assert list(examine(there, far))[-1] == Finding("python there", ok=True, words="mine")
    assert not list(examine(there))[-1].ok
    assert list(examine(Choice("this_computer"), far))[-1].check == "this_computer"


def test_targets_prints_what_programs_need(capsys):
    assert main(["targets", "--json"]) == 0
    lines = {line["text"]: line for line in _lines(capsys)}
    here = lines["this_computer"]
    assert (here["replicas"], here["is_remote"], here["is_ready"]) == (1, False, True)
    assert here["problem"] is None
    assert lines["virtual:8"]["replicas"] == 8
    assert lines["tpu:local"]["is_ready"] == HAS_CHIP
    assert lines["gpu"]["is_ready"] == bool(cards())
    if not HAS_CHIP:
        assert set(lines["tpu:local"]["problem"]) == {
            "what", "where", "received", "expected", "fix",
        }  # fmt: skip


def test_targets_offers_what_the_environment_names(capsys, monkeypatch):
    monkeypatch.setenv("COLAB_TPU_ADDR", "127.0.0.1:8470")
    monkeypatch.setenv("TPU_NAME", "mine")
    assert main(["targets", "--json"]) == 0
    lines = {line["text"]: line for line in _lines(capsys)}
    colab = lines["tpu:grpc://127.0.0.1:8470"]
    assert "no longer be reached" in colab["problem"]["what"]
    assert "COLAB_TPU_ADDR" in colab["found_by"]
    assert lines["tpu:mine"]["is_remote"]
    assert main(["targets"]) == 0
    assert "from COLAB_TPU_ADDR" in " ".join(capsys.readouterr().out.split())
    assert len(list(offered_targets({}))) == len(lines) - 2


def test_targets_offers_the_computers_that_were_connected_before(capsys):
    saved_hosts.save_host(
        RemoteHost(host="tpu-vm", user="me"), environment="tpu", words="v5e", seen=1.0
    )
    assert main(["targets", "--json"]) == 0
    (saved,) = [line for line in _lines(capsys) if line["text"] == "ssh:me@tpu-vm/tpu:local"]
    assert (saved["is_remote"], saved["is_ready"]) == (True, True)
    assert saved["found_by"] == "connected before: v5e"


@pytest.mark.parametrize("target", ["tpu:local", "gpu", "tpu:mine", "tpu:grpc://127.0.0.1:9"])
def test_train_says_what_is_wrong_with_a_target_before_there_is_a_run(tmp_path, capsys, target):
    if (HAS_CHIP and target == "tpu:local") or (cards() and target == "gpu"):
        pytest.skip("it could train there")
    path = Path(tmp_path / "p.workbench")
    assert main(["new", "fashion_convnet", str(path)]) == 0
    capsys.readouterr()
    assert main(["train", str(path), "--target", target, "--json"]) == 4
    (line,) = _lines(capsys)
    assert line["error"]["fix"]
    assert not runs_home().exists()


def test_targets_are_listed_with_whole_names_and_without_examples(capsys):
    saved_hosts.save_host(
        RemoteHost(host="tpu-vm", user="me"), environment="tpu", words="v5e", seen=1.0
    )
    assert main(["targets"]) == 0
    *lines, forms = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert {"this_computer", "virtual:8", "tpu:local", "ssh:me@tpu-vm/tpu:local"} <= set(names)
    assert not [name for name in names if "localhost" in name or name == "ssh"]
    assert "ssh:[USER@]HOST[:PORT][/TARGET]" in forms
    assert "several:HOST,HOST" in forms


def test_a_target_without_its_address_is_refused_with_its_form(tmp_path, capsys):
    path = Path(tmp_path / "p.workbench")
    assert main(["new", "fashion_convnet", str(path)]) == 0
    assert main(["train", str(path), "--target", "ssh:"]) == 2
    assert "ssh:[USER@]HOST[:PORT][/TARGET]" in capsys.readouterr().err
