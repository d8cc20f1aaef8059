"""Commands whose standard streams are closed, full, unread, or not of UTF-8."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

COMMANDS = ("runs --json", "runs", "templates --json", "targets", "queue --json", "--version")


@pytest.mark.full_but("runs --json->&-", "templates --json-<&- >&-", "--version->&- 2>&-")
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&-"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_output_is_a_quiet_exit_code(command, closed):
    line = f'"{sys.executable}" -m workbench {command} {closed}'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert "Traceback" not in done.stderr


def test_an_error_keeps_its_exit_code():
    line = f'"{sys.executable}" -m workbench check no-such-file --json >&-'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "")


def test_files_do_not_take_the_number_of_a_closed_stream(tmp_path):
    file = tmp_path / "p.workbench"
    line = f'"{sys.executable}" -m workbench new fashion_convnet "{file}" <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", line], check=False).returncode == 0
    assert file.read_bytes().startswith(b"{")


def shell(command, **environment):
    line = command.replace("workbench", f'"{sys.executable}" -m workbench', 1)
    return subprocess.run(
        ["sh", "-c", line], capture_output=True, check=False, env={**os.environ, **environment}
    )


@pytest.mark.full_but("templates --json", "check --help")
@pytest.mark.parametrize(
    "command", ["templates", "templates --json", "targets", "--version", "--help", "check --help"]
)
def test_an_output_that_cannot_be_written_is_said_in_a_line(command):
    done = shell(f"workbench {command} > /dev/full")
    printed = done.stderr.decode()
    assert done.returncode == 3
    assert "workbench: The output cannot be written" in printed
    assert "No space left on device" in printed
    assert "Traceback" not in printed
    assert "Exception ignored" not in printed


def test_what_was_saved_is_not_called_a_failure_where_messages_cannot_be_written(tmp_path):
    file = tmp_path / "p.workbench"
    done = shell(f'workbench new fashion_convnet "{file}" 2> /dev/full')
    assert (done.returncode, file.exists()) == (0, True)
    done = shell(f'workbench set "{file}" epochs=7 2> /dev/full')
    assert (done.returncode, b'"epochs": 7' in file.read_bytes()) == (0, True)


def test_an_unread_message_does_not_end_the_work(tmp_path):
    file = tmp_path / "p.workbench"
    done = shell(f'(workbench new fashion_convnet "{file}"; echo $? >&3) 3>&1 2>&1 >&- | true')
    assert file.read_bytes().startswith(b"{")
    assert b"Traceback" not in done.stderr


def test_json_is_utf8_whatever_the_terminal_is(tmp_path):
    """And words for people never end in a traceback there."""
    file = tmp_path / "花.workbench"
    shell(f'workbench new fashion_convnet "{file}"')
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for locale in (plain, {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1"}):
        done = shell(f'workbench set "{file}" title=花 --json', **locale)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout.decode("utf-8"))["project"] == str(file)
        done = shell("workbench templates --json", **locale)
        assert all(json.loads(line) for line in done.stdout.decode("utf-8").splitlines())
        for command in ("templates", "check", "backbones"):
            done = shell(f"workbench {command} {file if command == 'check' else ''}", **locale)
            assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
