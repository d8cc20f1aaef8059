"""Programs that the far end of a line starts: they are waited for as long as they do something."""

from __future__ import annotations

import os
import sys

import pytest

from tests.living import is_alive, wait_until_gone
from workbench.host import children
from workbench.host.faults import Fault

WAITS = "import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)\nprint('on')"


def run(code, *arguments, **options):
    argv = [sys.executable, "-I", "-c", code, *map(str, arguments)]
    return children.run(argv, dict(os.environ), **{"silence_s": 60.0, **options})


def test_all_lines_are_passed_on_and_the_last_ones_kept():
    code = (
        "import sys\nfor number in range(500): print(number)\n"
        "sys.stdout.flush()\nsys.stderr.write('half a line')\nsys.exit(7)"
    )
    printed = []
    ended = run(code, on_line=printed.append)
    assert ended.code == 7
    assert printed == [*map(str, range(500)), "half a line"]
    assert ended.lines == printed[-200:]


def test_a_program_that_prints_no_line_ends_is_followed():
    ended = run("print('x' * 1_000_000, end='')")
    assert (ended.code, {*ended.lines[-1]}) == (0, {"x"})


def test_silence_ends_a_program_with_all_that_it_has_started():
    sleeper = "import time; time.sleep(600)"
    code = (
        f"import subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', {sleeper!r}])\n"
        "print(child.pid, flush=True)\nchild.wait()"
    )
    printed = []
    with pytest.raises(Fault) as caught:
        run(code, silence_s=3.0, on_line=printed.append)
    assert (caught.value.key, caught.value.parts["received"]) == ("silence", printed[0])
    assert sys.executable in caught.value.parts["where"]
    wait_until_gone(printed[0])


def test_what_grows_beside_is_a_sign_of_life(tmp_path):
    flag, calls = tmp_path / "flag", []

    def has_grown():
        calls.append(True)
        if len(calls) == 2:
            flag.touch()
        return True

    ended = run(WAITS, flag, silence_s=0.0, has_grown=has_grown)
    assert (ended.code, ended.lines) == (0, ["on"])


def test_a_program_that_is_not_there_is_reported():
    with pytest.raises(Fault):
        children.run(["/no/such/program"], {}, silence_s=60.0)


def test_all_end_with_the_line():
    started = []

    def end(line):
        started.append(int(line))
        children.end_all()

    ended = run("import os, time; print(os.getpid(), flush=True); time.sleep(600)", on_line=end)
    assert ended.code == -9
    assert not is_alive(started[0])
