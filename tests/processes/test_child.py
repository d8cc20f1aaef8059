"""A child with a deadline: real processes that answer, keep silent, crash or linger."""

from __future__ import annotations

import json
import os
import signal
import sys

import pytest

from tests.living import is_alive, wait_until_gone
from workbench.errors import ChildDiedError, DeadlineError
from workbench.processes.child import Child, end_words

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
LINGERING = """
import os, sys
print('the last line', flush=True)
os.close(1)
sys.stdin.read()
sys.exit(5)
"""


class GivenUpError(Exception):
    pass


def child_of(code, **more):
    return Child([sys.executable, "-I", "-c", code], name="the test", **more)


def test_many_orders_are_answered_by_one_process():
    with child_of(ECHO) as child:
        assert child.request(b"abc", deadline_s=60) == b"cba"
        assert child.request(b"x" * 100_000 + b"y", deadline_s=60) == b"y" + b"x" * 100_000


def test_an_order_larger_than_a_pipe_is_sent_while_answers_are_read():
    """The child waits for its answers to be read before it reads the next line."""
    lines = [b"%07d" % number * 10 for number in range(20_000)]
    with child_of(ECHO, order=b"".join(line + b"\n" for line in lines)) as child:
        assert list(child.lines(deadline_s=60)) == [line[::-1] for line in lines]
        assert child.exit_code() == 0


@pytest.mark.parametrize("counts_work", [True, False])
@pytest.mark.parametrize("code", [SILENT, BUSY])
def test_silence_and_work_without_end_are_ended_by_the_deadline(code, counts_work):
    with (
        child_of(code, counts_work=counts_work) as child,
        pytest.raises(DeadlineError, match=r"The test timed out after 0\.3 s"),
    ):
        child.request(b"order", deadline_s=0.3)


def test_a_crash_is_reported_with_its_last_words():
    with child_of(DYING) as child, pytest.raises(ChildDiedError) as error:
        child.request(b"order", deadline_s=60)
    assert error.value.what == "The test ended (exit code 3)."
    assert "no room left" in error.value.received


def test_one_that_had_ended_before_the_request_is_reported_as_ended():
    with child_of("import os, sys; os.close(0)") as child:
        assert child.exit_code() == 0
        for _ in range(2):
            with pytest.raises(ChildDiedError):
                child.request(b"x" * 1_000_000, deadline_s=60)


def test_giving_up_ends_the_whole_group():
    has_begun = []

    def check():
        if has_begun:
            raise GivenUpError

    with child_of(PARENT, check=check) as child:
        grandchild = int(child.answer(deadline_s=60))
        assert is_alive(grandchild)
        has_begun.append(True)
        with pytest.raises(GivenUpError):
            child.answer(deadline_s=60)
    wait_until_gone(grandchild)


def test_the_deadline_is_of_all_lines_together():
    code = "import time\nwhile True: print('a line', flush=True); time.sleep(0.01)"
    with child_of(code) as child:
        assert child.answer(deadline_s=60) == b"a line"
        with pytest.raises(DeadlineError):
            list(child.lines(deadline_s=0.5))


def test_the_deadline_ends_the_whole_group():
    with child_of(PARENT) as child:
        grandchild = int(child.answer(deadline_s=60))
        with pytest.raises(DeadlineError):
            child.answer(deadline_s=0.1)
    wait_until_gone(grandchild)


def test_the_lines_of_a_program_come_with_its_errors_where_that_is_requested():
    code = "import sys; print('one', flush=True); print('two', file=sys.stderr); sys.exit(7)"
    with child_of(code, order=b"", has_merged_errors=True) as child:
        assert list(child.lines(deadline_s=60)) == [b"one", b"two"]
        assert (child.exit_code(), child.last_words()) == (7, "")
    with child_of(code, order=b"") as child:
        assert child.rest(limit=2, deadline_s=60) == b"on"
        assert child.rest(limit=99, deadline_s=60) == b"e\n"
        assert (child.exit_code(), child.last_words()) == (7, "two")


def test_a_child_is_waited_for_when_it_has_closed_its_output():
    with child_of(LINGERING, order=b"") as child:
        assert list(child.lines(deadline_s=60)) == [b"the last line"]
        assert child.exit_code() == 5


def test_a_child_may_end_by_itself():
    with child_of(ECHO + "\nsys.exit(9)") as child:
        assert child.request(b"ab", deadline_s=60) == b"ba"
        child.finish(step_s=60)
        assert child.exit_code() == 9


def test_a_child_that_does_not_is_ended_step_by_step():
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, lambda *_: None)\n"
        "print('ready', flush=True)\nwhile True: time.sleep(600)"
    )
    with child_of(code) as child:
        assert child.answer(deadline_s=60) == b"ready"
        child.finish(step_s=0.1)
        assert child.exit_code() == -signal.SIGKILL


def framing(*fields, data=b"", more=""):
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in fields)
    return f"import os; os.write(1, {lines + data!r}); {more}"


def test_frames_come_with_their_bytes():
    with child_of(framing({"a": 1, "bytes": 3}, data=b"abc")) as child:
        assert child.frame(limit=3, deadline_s=60) == ({"a": 1, "bytes": 3}, b"abc")
        with pytest.raises(ChildDiedError, match="exit code 0"):
            child.frame(limit=3, deadline_s=60)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (framing({"bytes": 4}, data=b"abc"), "ended within a frame"),
        (framing({"bytes": 5}, data=b"abcde"), "too long: 5 bytes"),
        (framing({"bytes": "x"}), "not a frame"),
        (framing(more="print('hello')"), "not JSON"),
        (framing(more="os.kill(os.getpid(), 9)"), "probably out of memory"),
    ],
)
def test_what_is_no_frame_is_reported(code, why):
    with child_of(code) as child, pytest.raises(ChildDiedError) as error:
        child.frame(limit=4, deadline_s=60)
    assert why in str(error.value)


def test_a_program_that_is_not_there_is_an_error_of_the_system():
    with pytest.raises(FileNotFoundError):
        Child(["/no/such/program"], name="the test")


def test_a_child_is_alone_in_its_session():
    with child_of("import os; print(os.getsid(0), os.getpid())") as child:
        session, pid = child.answer(deadline_s=60).split()
    assert session == pid != b"%d" % os.getpid()


def test_the_end_of_a_process_in_words():
    assert end_words(0) == "ended (exit code 0)"
    assert end_words(-signal.SIGSEGV) == "crashed (SIGSEGV)"
    assert end_words(-99) == "crashed (signal 99)"
