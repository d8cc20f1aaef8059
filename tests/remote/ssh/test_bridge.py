"""The bridge in a subprocess, over plain pipes: every verb, and every way a line ends."""

from __future__ import annotations

import ast
import fcntl
import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest

import workbench.host
from tests.remote.bridges import LOCAL, digest_before, local_line, send
from workbench.errors import RemoteError
from workbench.host import faults, wire
from workbench.remote.ssh.command import BOOTSTRAP, COMMAND, SOURCES, opening
from workbench.remote.ssh.connection import Connection

HOST = Path(workbench.host.__file__).parent


@pytest.fixture
def home(tmp_path):
    return tmp_path / "there"


@pytest.fixture
def line(home):
    home.mkdir()
    with local_line(home) as connection:
        yield connection


def archive(**files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        for name, text in files.items():
            packed.writestr(name.replace("__", "/"), text)
    return data.getvalue()


def made_run(line, name="run-1", request=b'{"project": {}}', **changed):
    code = send(line, "code", archive(workbench__here=b"x"))
    fields = {"name": name, "code": code, "python": sys.executable, "parcel": "", **changed}
    return line.call("create", request, **fields)


# Sources


@pytest.mark.parametrize("path", sorted(HOST.glob("*.py")), ids=lambda p: p.name)
def test_any_python_from_3_6_on_reads_the_sources(path):
    tree = ast.parse(path.read_text(), feature_version=(3, 6))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.module != "__future__", "annotations came with 3.7"
            assert (
                node.module.startswith("workbench.host") or node.module in sys.stdlib_module_names
            )
        elif isinstance(node, ast.Import):
            assert all(alias.name.split(".")[0] in sys.stdlib_module_names for alias in node.names)


def test_all_sources_are_sent_in_an_order_that_loads():
    assert set(SOURCES) == {p.stem for p in HOST.glob("*.py")} - {"__init__", "loader"}


def test_every_login_shell_passes_the_command_on():
    assert not set("'$\\!`\n") & set(BOOTSTRAP)
    assert COMMAND.count("'") == 2


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
def test_the_command_runs_in_a_real_shell(shell, home):
    home.mkdir()
    with Connection([shell, "-c", COMMAND], home=str(home)) as connection:
        assert connection.hello["proto"] == wire.PROTOCOL


# Frames


def test_frames_read_back():
    data = wire.encode({"n": 3, "verb": "put"}, b"\n\0abc") + wire.encode({"n": 0})
    stream = io.BytesIO(data)
    assert wire.read_frame(stream) == ({"n": 3, "verb": "put", "bytes": 5}, b"\n\0abc")
    assert wire.read_frame(stream) == ({"n": 0, "bytes": 0}, b"")
    assert wire.read_frame(stream) is None


@pytest.mark.parametrize(
    "data",
    [
        b"no json\n",
        b"[]\n",
        b'{"n": 1}\n',
        b'{"n": true, "bytes": 0}\n',
        b'{"n": 1, "bytes": -1}\n',
        b'{"n": 1, "bytes": 99999999}\n',
        b'{"n": 1, "bytes": 4}\nabc',
        b'{"n": 1, "byt',
        b"x" * (wire.LINE_LIMIT + 1),
        b"[" * 60_000 + b"\n",
    ],
)
def test_what_is_no_frame_is_refused(data):
    with pytest.raises(wire.FrameFault):
        wire.read_frame(io.BytesIO(data))


def test_a_frame_that_the_other_end_would_refuse_is_not_sent():
    with pytest.raises(wire.FrameFault):
        wire.encode({"n": 1, "text": "x" * wire.LINE_LIMIT})


# The line


def test_only_the_account_may_look_into_its_folder(line, home):
    line.call("probe")
    assert {p.stat().st_mode & 0o777 for p in [home / "runs", home / "code"]} == {0o700}


def test_the_probe_reports_what_is_there(line, home):
    facts = json.loads(line.call("probe").data)
    assert facts["system"] == os.uname().sysname
    assert facts["home"] == str(home)
    assert facts["free_bytes"] > 0
    named = json.loads(line.call("probe", python=sys.executable).data)["pythons"]
    assert [python["version"][:2] for python in named] == [list(sys.version_info[:2])]
    assert "keras" in named[0]["versions"]


def test_noise_before_the_hello_is_passed_over(home):
    home.mkdir()
    noisy = ["sh", "-c", "echo 'Welcome!'; printf '{\"n\": 1}\\n'; " + COMMAND]
    with Connection(noisy, home=str(home)) as connection:
        assert connection.call("list").number("count") == 0


def test_a_login_script_that_leaves_its_line_open_hides_no_hello(home):
    home.mkdir()
    with Connection(["sh", "-c", "printf Welcome; " + COMMAND], home=str(home)) as connection:
        assert connection.call("list").number("count") == 0


@pytest.mark.parametrize("chatter", ["motd: Permission denied", "ImportError: no module foo"])
def test_a_line_that_was_connected_is_cut_whatever_a_login_script_prints(home, chatter):
    home.mkdir()
    noisy = ["sh", "-c", f"echo '{chatter}' >&2; {COMMAND}; exit 2"]
    connection = Connection(noisy, home=str(home))
    os.killpg(connection._child.pid, signal.SIGKILL)
    with pytest.raises(RemoteError) as caught:
        connection.call("list")
    assert (caught.value.key, caught.value.is_passing) == ("cut", True)
    connection.close()
    with pytest.raises(RemoteError):  # not a write to a number that may be another file's
        connection.call("list")


@pytest.mark.parametrize(
    ("script", "key"),
    [
        ("exit 255", "cut"),
        ("echo 'sh: 1: exec: python3: not found' >&2; exit 127", "no_python"),
        ("echo 'x@y: Permission denied (publickey).' >&2; exit 255", "not_allowed"),
        ("echo '\036HELLO {\"proto\": 99}'; sleep 60", "protocol"),
        ("head -c 3000000 /dev/zero", "cut"),
    ],
)
def test_a_line_that_cannot_be_made_says_why(script, key):
    with pytest.raises(RemoteError) as caught:
        Connection(["sh", "-c", script], name="there")
    assert caught.value.key == key


def test_a_missing_program_is_reported():
    with pytest.raises(RemoteError) as caught:
        Connection(["no-such-program"])
    assert caught.value.key == "no_ssh"


def test_a_refusal_has_all_parts(line):
    with pytest.raises(RemoteError) as caught:
        line.call("attach", run="nothing", offset=0, digest=digest_before(b""))
    assert caught.value.key == "no_run"
    assert not caught.value.is_passing
    assert "there" in caught.value.where
    assert "that computer suggests: " in caught.value.received


@pytest.mark.parametrize("verb", ["", "quit", "__init__"])
def test_an_unknown_verb_is_refused_and_the_line_goes_on(line, verb):
    with pytest.raises(RemoteError):
        line.call(verb)
    assert line.call("list").fields["ok"]


@pytest.mark.parametrize(
    "name", ["", "..", "../x", "a/b", "a b", "-x", ".x", "x" * 200, "a\n", "$(touch PWN)"]
)
def test_no_name_leads_out_of_the_folder(line, name):
    for call in (
        lambda: made_run(line, name=name),
        lambda: line.call("forget", run=name),
        lambda: line.call("stat", run=name, name="log.txt"),
    ):
        with pytest.raises(RemoteError) as caught:
            call()
        assert caught.value.key in {"request", "no_run"}


@pytest.mark.parametrize("fields", [{"run": 3}, {"run": None}, {"run": ["a"]}])
def test_a_field_of_the_wrong_type_is_refused(line, fields):
    with pytest.raises(RemoteError) as caught:
        line.call("forget", **fields)
    assert caught.value.key == "request"


def test_a_cut_line_is_reported_to_each_caller(home):
    home.mkdir()
    with local_line(home) as line:
        made_run(line)
        frames = follow_locked(line, home, b"")
        next(frames)
        line._child.kill()
        with pytest.raises(RemoteError) as caught:
            list(frames)
        assert caught.value.is_passing
        with pytest.raises(RemoteError):
            line.call("list")


def test_silence_is_a_cut(home):
    """A far end that is stopped says nothing, and nothing else would ever end the wait."""
    home.mkdir()
    with local_line(home, silence_s=1.5) as line:
        os.kill(line._child.pid, signal.SIGSTOP)
        with pytest.raises(RemoteError) as caught:
            line.call("list")
        assert caught.value.key == "cut"
        assert "no data" in caught.value.received


def test_the_bridge_ends_with_its_stdin(home):
    home.mkdir()
    child = subprocess.Popen(LOCAL, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdin.write(opening(str(home)))
    child.stdin.flush()
    assert child.stdout.readline().startswith(wire.HELLO)
    child.stdin.close()
    assert child.wait(20) == 0
    child.stdout.close()


def test_what_is_not_a_frame_ends_the_bridge(home):
    home.mkdir()
    child = subprocess.Popen(LOCAL, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=-1)
    _, words = child.communicate(opening(str(home)) + b"GET / HTTP/1.0\r\n\r\n", timeout=20)
    assert child.returncode == 1
    assert b"Not a line of Workbench" in words


# Uploads


def test_an_upload_is_unpacked_once(line, home):
    data = archive(workbench__a=b"text", b=b"more")
    sha = send(line, "code", data)
    assert (home / "code" / sha / "workbench" / "a").read_bytes() == b"text"
    assert list((home / "uploads").iterdir()) == []
    assert line.call("have", kind="code", sha=sha, size=len(data)).flag("is_whole")


def test_what_a_cut_line_left_half_unpacked_is_removed(line, home):
    data = archive(a=b"text")
    sha = hashlib.sha256(data).hexdigest()
    line.call("have", kind="parcel", sha=sha, size=len(data))
    for name in (f".new-{sha[:16]}-killed", ".new-0123456789abcdef-anothers"):
        (home / "parcels" / name).mkdir()
        (home / "parcels" / name / "half").write_bytes(b"x")
    send(line, "parcel", data)
    left = sorted(path.name for path in (home / "parcels").iterdir())
    assert left == [".new-0123456789abcdef-anothers", sha]


def test_two_lines_may_unpack_the_same(line, home):
    data = archive(**{f"f{number}": os.urandom(100) for number in range(1500)})
    sha = hashlib.sha256(data).hexdigest()
    line.call("put", data, kind="parcel", sha=sha, offset=0)
    with local_line(home) as other:
        unpacking = threading.Thread(
            target=lambda: other.call("commit", kind="parcel", sha=sha), daemon=True
        )
        unpacking.start()
        line.call("commit", kind="parcel", sha=sha)
        unpacking.join(60)
        assert not unpacking.is_alive()
    assert [path.name for path in (home / "parcels").iterdir()] == [sha]
    assert len(list((home / "parcels" / sha).iterdir())) == 1500


def test_a_cut_upload_goes_on_where_it_stopped(home):
    home.mkdir()
    data = archive(a=os.urandom(300_000))
    sha = hashlib.sha256(data).hexdigest()
    with local_line(home) as line:
        line.call("put", data[:100_000], kind="parcel", sha=sha, offset=0)
    with local_line(home) as line:
        there = line.call("have", kind="parcel", sha=sha, size=len(data)).number("offset")
        assert there == 100_000
        with pytest.raises(RemoteError) as caught:
            line.call("put", b"again", kind="parcel", sha=sha, offset=0)
        assert caught.value.key == "offset"
        line.call("put", data[there:], kind="parcel", sha=sha, offset=there)
        path = line.call("commit", kind="parcel", sha=sha).text("path")
    assert path == str(home / "parcels" / sha)


def test_what_is_damaged_on_its_way_is_thrown_away(line, home):
    sha = hashlib.sha256(b"meant").hexdigest()
    line.call("put", b"damaged", kind="code", sha=sha, offset=0)
    with pytest.raises(RemoteError) as caught:
        line.call("commit", kind="code", sha=sha)
    assert caught.value.key == "sum"
    assert not line.call("have", kind="code", sha=sha, size=5).fields["offset"]
    assert list((home / "code").iterdir()) == []


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "a\\..\\evil", "-x", "a//b"])
def test_no_member_of_an_archive_lands_outside(line, home, name):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        packed.writestr(zipfile.ZipInfo(name), b"x")
    with pytest.raises(RemoteError) as caught:
        send(line, "code", data.getvalue())
    assert caught.value.key == "member"
    assert not list(home.parent.rglob("*evil*"))
    assert list((home / "code").iterdir()) == []


def test_what_is_no_archive_is_refused(line):
    with pytest.raises(RemoteError) as caught:
        send(line, "code", b"no archive")
    assert caught.value.key == "archive"


def test_an_upload_that_has_no_room_is_refused_before_it_begins(line):
    with pytest.raises(RemoteError) as caught:
        line.call("have", kind="parcel", sha="0" * 64, size=1 << 60)
    assert caught.value.key == "disk_full"


# Runs


def test_the_same_request_makes_one_run(line, home):
    assert made_run(line).flag("is_new")
    again = made_run(line)
    assert not again.flag("is_new")
    assert (home / "runs" / "run-1" / "request.json").read_bytes() == b'{"project": {}}'
    with pytest.raises(RemoteError) as caught:
        made_run(line, request=b"{}")
    assert caught.value.key == "other_run"


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"parcel": "0" * 64}, "not_stored"),
        ({"code": "0" * 64}, "not_stored"),
        ({"python": "/no/python"}, "no_python"),
        ({"python": "python3"}, "no_python"),
        ({"code": "../../etc"}, "request"),
    ],
)
def test_a_run_without_what_it_needs_is_not_made(line, home, changed, key):
    with pytest.raises(RemoteError) as caught:
        made_run(line, **changed)
    assert caught.value.key == key
    assert list((home / "runs").iterdir()) == []


def follow_locked(line, home, have, run="run-1"):
    """Frames of `attach` to a run whose lock the test's own process holds."""
    lock = os.open(home / "runs" / run / "worker.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield from line.stream("attach", run=run, offset=len(have), digest=digest_before(have))
    finally:
        os.close(lock)


def test_a_log_is_followed_until_its_trainer_ends(line, home):
    made_run(line)
    folder = home / "runs" / "run-1"
    log = folder / "events.jsonl"
    log.write_bytes(b'{"event":"a"}\n')
    lock = os.open(folder / "worker.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    received = b""
    for frame in line.stream("attach", run="run-1", offset=0, digest=digest_before(b"")):
        if frame.data:
            assert frame.number("offset") == len(received)
            received += frame.data
        if frame.flag("beat") and received.count(b"\n") == 1:
            assert frame.flag("is_alive")
            with log.open("ab") as file:
                file.write(b'{"event":"run_finished","outcome":"completed"}\n')
            os.close(lock)
    assert frame.flag("is_over")
    assert frame.text("outcome") == "completed"
    assert received == log.read_bytes()
    assert frame.number("size") == len(received)


def test_a_log_goes_on_from_any_byte(line, home):
    made_run(line)
    whole = os.urandom(200_000)
    (home / "runs" / "run-1" / "events.jsonl").write_bytes(whole)
    for have in (0, 1, 65_535, 65_536, 65_537, 199_999, 200_000):
        frames = list(
            line.stream("attach", run="run-1", offset=have, digest=digest_before(whole[:have]))
        )
        assert whole[:have] + b"".join(frame.data for frame in frames) == whole
        assert frames[-1].flag("is_over")


@pytest.mark.parametrize("have", [b"another log", b"x" * 300_000])
def test_another_log_is_noticed(line, home, have):
    made_run(line)
    (home / "runs" / "run-1" / "events.jsonl").write_bytes(b"some log, longer than the other")
    answer = line.call("attach", run="run-1", offset=len(have), digest=digest_before(have))
    assert answer.flag("restart")


def test_commands_reach_the_run(line, home):
    made_run(line)
    for command in ("stop", "pause"):
        line.call("control", run="run-1", command=command)
        assert (home / "runs" / "run-1" / "control").read_text() == command + "\n"
    with pytest.raises(RemoteError):
        line.call("control", run="run-1", command="rm -rf /")


def test_a_signal_goes_to_the_holder_of_the_lock_alone(line, home):
    made_run(line)
    folder = home / "runs" / "run-1"
    assert line.call("signal", run="run-1", signal="kill").number("count") == 0
    code = (
        "import fcntl, sys, time; file = open(sys.argv[1], 'w'); fcntl.flock(file, 2);"
        "print('locked', flush=True); time.sleep(600)"
    )
    path = str(folder / "worker.lock")
    words = [sys.executable, "-c", code, path]
    stranger = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert stranger.stdout.readline() == b"locked\n"
    assert line.call("signal", run="run-1", signal="kill").number("count") == 0
    stranger.kill()
    stranger.communicate()
    trainer = subprocess.Popen([*words, "workbench.worker", "train"], stdout=subprocess.PIPE)
    assert trainer.stdout.readline() == b"locked\n"
    assert line.call("signal", run="run-1", signal="terminate").number("count") == 1
    trainer.communicate()
    assert trainer.returncode == -signal.SIGTERM


def test_a_file_is_read_as_it_was_when_it_was_requested(line, home):
    made_run(line)
    weights = home / "runs" / "run-1" / "weights.npz"
    assert not line.call("stat", run="run-1", name="weights.npz").flag("is_there")
    old = os.urandom(1_500_000)
    weights.write_bytes(old)
    facts = line.call("stat", run="run-1", name="weights.npz")
    assert facts.number("size") == len(old)
    assert facts.text("sha256") == hashlib.sha256(old).hexdigest()
    new = weights.with_name("new")
    new.write_bytes(b"another file")
    new.replace(weights)
    read, data = b"", b"x"
    while data:
        data = line.call("read", run="run-1", name="weights.npz", offset=len(read)).data
        read += data
    assert read == old


@pytest.mark.parametrize(
    "name", ["request.json", "../x", "checkpoints/best-.npz", "checkpoints/best-1/../x.npz", ""]
)
def test_other_files_are_not_read(line, name):
    made_run(line)
    with pytest.raises(RemoteError) as caught:
        line.call("stat", run="run-1", name=name)
    assert caught.value.key == "request"


def test_runs_are_listed_and_forgotten_when_over(line, home):
    made_run(line)
    frames = follow_locked(line, home, b"")
    next(frames)
    (listed,) = json.loads(line.call("list").data)
    assert listed["run"] == "run-1"
    assert listed["is_alive"]
    with pytest.raises(RemoteError) as caught:
        line.call("forget", run="run-1")
    assert caught.value.key == "alive"
    frames.close()
    line.call("forget", run="run-1")
    line.call("forget", run="run-1")
    assert json.loads(line.call("list").data) == []


def test_a_failed_start_says_what_the_application_said(line, tmp_path):
    made_run(line, python="/bin/false")
    with pytest.raises(RemoteError) as caught:
        line.call("start", run="run-1", attempt=1)
    assert caught.value.key == "not_started"
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\necho noise\n"
        'echo \'{"error": {"what": "No room.", "where": "\'"$PYTHONPATH"\'", "fix": "Make it."}}\'\n'
        "echo more noise\nexit 3\n"
    )
    python.chmod(0o755)
    made_run(line, name="run-2", python=str(python))
    with pytest.raises(RemoteError) as caught:
        line.call("start", run="run-2", attempt=1)
    error = caught.value
    assert error.what == "there: No room."
    assert "/code/" in error.where
    # Its advice is what it says, not what Workbench says.
    assert "that computer suggests: Make it." in error.received
    assert error.fix == ""


def test_the_keys_of_faults_are_known():
    sources = Path(faults.__file__).parent.glob("*.py")
    used = {
        key
        for source in sources
        for key in re.findall(r'Fault\(\s*"([a-z_]+)"', source.read_text(encoding="utf-8"))
    }
    assert used == {*faults.KEYS}


def test_a_start_is_requested_once(line, home):
    """The second answer comes from the run's folder, whichever process started it."""
    made_run(line, python="/bin/false")
    frames = follow_locked(line, home, b"")
    next(frames)
    assert line.call("start", run="run-1", attempt=1).flag("was_started")
    frames.close()
    with pytest.raises(RemoteError):  # nothing came of it, so it is tried
        line.call("start", run="run-1", attempt=1)
    (home / "runs" / "run-1" / "events.jsonl").write_bytes(b"{}\n")
    assert line.call("start", run="run-1", attempt=1).flag("was_started")
    with pytest.raises(RemoteError):
        line.call("start", run="run-1", attempt=2, resume=True)


def test_several_threads_may_send_requests_at_once(line, home):
    made_run(line)
    frames = follow_locked(line, home, b"")
    next(frames)
    answers = []
    callers = [
        threading.Thread(target=lambda: answers.append(line.call("list").number("count")))
        for _ in range(8)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert answers == [1] * 8
    frames.close()


def test_a_slow_reader_is_not_taken_for_silence(home):
    """This end takes nothing for longer than the silence that counts as a cut, while far more than
    its pipes and queues hold is on its way.
    """
    home.mkdir()
    silence_s = 2.0
    with local_line(home, silence_s=silence_s) as line:
        made_run(line)
        whole = os.urandom(30 << 20)
        (home / "runs" / "run-1" / "events.jsonl").write_bytes(whole)
        frames = line.stream("attach", run="run-1", offset=0, digest=digest_before(b""))
        received = [next(frames).data]
        time.sleep(2 * silence_s)
        received += [frame.data for frame in frames]
        assert b"".join(received) == whole


def test_a_slow_line_is_no_silence(home, tmp_path):
    """One frame that lasts longer than the silence that counts as a cut."""
    home.mkdir()
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(sys.argv[1:], stdin=0, stdout=subprocess.PIPE)\n"
        "while data := child.stdout.read1(40_000):\n"
        "    sys.stdout.buffer.write(data); sys.stdout.buffer.flush()\n"
        "    time.sleep(0.2 if len(data) == 40_000 else 0)\n"
    )
    argv = [sys.executable, str(slow), *LOCAL]
    with Connection(argv, home=str(home), silence_s=2.0) as line:
        made_run(line)
        whole = os.urandom(1 << 20)
        (home / "runs" / "run-1" / "events.jsonl").write_bytes(whole)
        frames = line.stream("attach", run="run-1", offset=0, digest=digest_before(b""))
        assert b"".join(frame.data for frame in frames) == whole


def test_an_answer_that_never_comes_is_given_up(home, monkeypatch):
    """The far end is running and beats, but the disk that the verb reads hangs: a pipe, here."""
    monkeypatch.setattr("workbench.remote.ssh.connection.ANSWER_S", 2.0)
    home.mkdir()
    with local_line(home) as line:
        made_run(line)
        os.mkfifo(home / "runs" / "run-1" / "log.txt")
        with pytest.raises(RemoteError) as caught:
            line.call("stat", run="run-1", name="log.txt")
        assert caught.value.is_passing
        assert "did not respond" in caught.value.received
