"""What the doctor says of another computer: by its real bridge, by facts, and by real ssh."""

from __future__ import annotations

import shutil
import socket
import sys

import msgspec
import pytest

from tests.remote.bridges import local_line
from workbench.checkup.doctor import (
    Chip,
    Facts,
    Holder,
    Python,
    examine_far,
    findings_of,
    read_facts,
)
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import parse_target
from workbench.errors import RemoteError
from workbench.targets import all_targets

HERE, TPU, GPU = Choice("this_computer"), Choice("tpu", {"address": "local"}), Choice("gpu")
GOOD = Facts(
    system="Linux",
    machine="x86_64",
    cores=96,
    memory_bytes=200 * 10**9,
    free_bytes=90 * 10**9,
    pythons=[Python("/usr/bin/python3.11", [3, 11, 2], has_venv=True)],
    chips=[Chip("/dev/accel0", is_allowed=True, group="tpu")],
    gpus=["NVIDIA L4"],
    cloud={"accelerator": "v5litepod-8", "is_preempted": "FALSE"},
)


def changed(**values):
    return msgspec.structs.replace(GOOD, **values)


def bad(facts, inner=TPU, **options):
    return {each.check: each for each in findings_of(facts, inner, **options) if not each.ok}


def test_the_facts_of_a_real_bridge_are_understood(tmp_path):
    home = tmp_path / "there"
    home.mkdir()
    with local_line(home) as line:
        facts = read_facts(line.call("probe", python=sys.executable).data)
    found = {each.check: each for each in findings_of(facts, HERE, python=sys.executable)}
    assert found["system"].words.startswith("Linux")
    assert found["python"].ok
    assert set(found) >= {"system", "python", "memory", "disk"}


@pytest.mark.parametrize("inner", [HERE, TPU, GPU])
def test_a_computer_that_has_everything_is_found_well(inner):
    assert bad(GOOD, inner) == {}


@pytest.mark.parametrize(
    ("facts", "check", "words", "fix"),
    [
        (changed(system="Darwin"), "system", "Darwin", "Only Linux"),
        (changed(pythons=[Python("/usr/bin/python3", [3, 10, 12], has_venv=True)]),
         "python", "3.10.12", "python3.11"),
        (changed(pythons=[Python("/usr/bin/python3", [3, 11, 2])]), "python", "3.11.2", "venv"),
        (changed(pythons=[]), "python", "not found", "python3.11"),
        (changed(free_bytes=10**9), "disk", "1.0 GB free", "Free some space"),
        (changed(memory_bytes=10**9), "memory", "1.0 GB", "more memory"),
        (changed(chips=[]), "chips", "no /dev/accel0", "not a TPU VM"),
        (changed(chips=[Chip("/dev/accel0", group="tpu")]), "chips", "no permission", "-aG tpu"),
        (changed(chips=[Chip("/dev/accel0", is_allowed=True, holders=[Holder(7, "a.py")])]),
         "chips", "process 7: a.py", "Stop"),
        (changed(cloud={"is_preempted": "TRUE"}), "preempted", "preempted", "Delete the VM"),
        (changed(cloud={"accelerator": "tpu7x-8"}), "accelerator", "tpu7x-8", "needs JAX"),
    ],
)  # fmt: skip
def test_what_it_lacks_is_named_with_its_remedy(facts, check, words, fix):
    (finding,) = bad(facts).values()
    assert finding.check == check
    assert words in finding.words
    assert fix in finding.fix


def test_what_a_tpu_needs_is_not_asked_of_a_processor():
    assert bad(changed(chips=[], gpus=[]), HERE) == {}
    assert set(bad(changed(gpus=[]), GPU)) == {"cards"}


def test_an_interpreter_that_was_named_must_have_the_packages():
    own = Python("/opt/py", [3, 12, 1], versions={"keras": "3", "numpy": "2"})
    assert "msgspec" in bad(changed(pythons=[own]), python="/opt/py")["python"].fix


def test_texts_of_a_stranger_drive_no_terminal():
    facts = changed(chips=[Chip("/dev/\x1b[31m", is_allowed=True)])
    (finding,) = (each for each in findings_of(facts, TPU) if each.check == "chips")
    assert "\x1b" not in finding.words


@pytest.mark.parametrize("data", [b"", b"[]", b'{"cores": "many"}', b"\xff", b"[" * 5_000])
def test_an_answer_that_is_none_is_refused(data):
    with pytest.raises(RemoteError):
        read_facts(data)


@pytest.mark.skipif(shutil.which("ssh") is None, reason="needs an ssh client")
def test_a_line_that_cannot_be_made_is_a_finding():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    target = parse_target(f"ssh:127.0.0.1:{port}/tpu:local", all_targets())
    (finding,) = examine_far(target)
    assert (finding.check, finding.ok) == ("line", False)
    assert "No SSH server answered" in finding.words


def test_a_computer_without_a_name_is_not_asked():
    (finding,) = examine_far(Choice("ssh", {}))
    assert not finding.ok
    assert "No host" in finding.words
