"""Commands whose standard streams are closed, as `>&-` does."""

from __future__ import annotations

import subprocess
import sys

import pytest

COMMANDS = ("runs --json", "runs", "templates --json", "targets", "queue --json", "--version")


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
