"""A child that answers lines: real processes that answer, keep silent, die or linger."""

import os
import sys
import time

import pytest

from workbench.errors import RunError
from workbench.preflight.line_child import ChildDiedError, DeadlineError, LineChild
from workbench.preflight.run_lines import run_lines

BUSY = "import sys\nsys.stdin.readline()\nwhile True: pass"
ECHO = "import sys\nfor line in sys.stdin: print(line.strip()[::-1], flush=True)"
SILENT = "import sys, time\nsys.stdin.readline()\ntime.sleep(600)"
DYING = "import sys\nsys.stdin.readline()\nsys.stderr.write('no room left')\nsys.exit(3)"
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
print(child.pid, flush=True)
time.sleep(600)
"""


class GivenUpError(Exception):
    pass


def child_of(code, folder, check=lambda: None):
    command = [sys.executable, "-I", "-c", code]
    return LineChild(command, dict(os.environ), name="the test", folder=folder, check=check)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for_end(pid):
    while is_alive(pid):  # the test's own time limit ends this
        time.sleep(0.01)


def test_many_orders_are_answered_by_one_process(tmp_path):
    with child_of(ECHO, tmp_path) as child:
        assert child.ask(b"abc", deadline_s=60) == b"cba"
        assert child.ask(b"x" * 100_000 + b"y", deadline_s=60) == b"y" + b"x" * 100_000


def test_silence_is_ended_by_the_deadline(tmp_path):
    with child_of(SILENT, tmp_path) as child, pytest.raises(DeadlineError) as error:
        child.ask(b"order", deadline_s=0.3)
    assert "timed out after" in str(error.value)


def test_work_without_end_is_ended_by_the_deadline(tmp_path):
    with child_of(BUSY, tmp_path) as child, pytest.raises(DeadlineError):
        child.ask(b"order", deadline_s=0.3)


def test_a_death_is_told_with_its_last_words(tmp_path):
    with child_of(DYING, tmp_path) as child, pytest.raises(ChildDiedError) as error:
        child.ask(b"order", deadline_s=60)
    assert "no room left" in error.value.received


def test_giving_up_ends_the_whole_group(tmp_path):
    asked = []

    def check():
        if asked:
            raise GivenUpError

    with child_of(PARENT, tmp_path, check) as child:
        grandchild = int(child.next_line(deadline_s=60))
        assert is_alive(grandchild)
        asked.append(True)
        with pytest.raises(GivenUpError):
            child.next_line(deadline_s=60)
    wait_for_end(grandchild)


def test_it_must_be_started(tmp_path):
    with pytest.raises(RunError):
        child_of(ECHO, tmp_path).ask(b"x", deadline_s=1)


def test_lines_of_a_program_are_told_and_its_exit_code_is_kept():
    told = []
    code = "print('one'); print('two'); raise SystemExit(7)"
    ended = run_lines(
        [sys.executable, "-c", code], deadline_s=60, tell=told.append, check=lambda: None
    )
    assert (ended.exit_code, told) == (7, ["one", "two"])


def test_a_program_is_ended_when_its_time_is_over_with_its_children():
    told = []
    ended = run_lines(
        [sys.executable, "-c", PARENT], deadline_s=2.0, tell=told.append, check=lambda: None
    )
    assert ended.exit_code is None
    for pid in told:
        wait_for_end(int(pid))
