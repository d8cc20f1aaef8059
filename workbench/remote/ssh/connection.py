"""A connection to another computer: requests go, answers come, silence has an end.

One thread reads, one sends a beat every few seconds, and a caller waits for frames with the
number of its request. Everything received is untrusted: frames have limits, texts are cut and
stripped before they are shown.
"""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec

from workbench.core.outside_text import one_line
from workbench.errors import RemoteError, os_errors_as
from workbench.host import wire
from workbench.host.children import end_group
from workbench.host.faults import KEYS
from workbench.remote.ssh.command import (
    DEFAULT_HOME,
    RemoteHost,
    no_ssh,
    opening,
    plain,
    ssh_argv,
    words_of,
)
from workbench.remote.ssh.host_keys import known_hosts_path

HELLO_S = 20.0
SILENCE_S = 15.0
"""Host and run mirror send a beat each second and each five: so long a silence is a cut."""

ANSWER_S = 300.0
"""The longest wait for a frame of one request, though others come: a disk there may hang."""

_BEAT_S = 5.0
_END_S = 1.0
_MOST_FRAMES = 16
_NOISE_BYTES = 1 << 20
_STDERR_BYTES = 16 * 1024

OnProgress = Callable[[str, float], None]


@dataclass(frozen=True)
class Answer:
    """What came for a request: the fields of a frame, and its bytes."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    data: bytes = b""

    @property
    def is_last(self) -> bool:
        """The answer itself; others come before it."""
        return "ok" in self.fields

    def text(self, name: str) -> str:
        """A text of the answer; "" where it says none."""
        value = self.fields.get(name)
        return plain(value) if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        """A whole number from 0 on; 0 where it says none."""
        value = self.fields.get(name)
        return value if isinstance(value, int) and value > 0 else 0

    def flag(self, name: str) -> bool:
        """Whether it says yes."""
        return self.fields.get(name) is True


class Connection:
    """A connection to a bridge; a context manager. May be used from several threads.

    Args:
        argv: The program whose stdin and stdout are the connection.
        home: Our folder at the other end.
        name: Name of the other computer, for messages.
        env: Variables of the program; this process' own where None.
        silence_s: Seconds without any frame that count as a cut.

    Raises:
        RemoteError: the connection cannot be made; `is_passing` where it may be later.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        home: str = DEFAULT_HOME,
        name: str = "",
        env: Mapping[str, str] | None = None,
        silence_s: float = SILENCE_S,
    ) -> None:
        self.name = name
        self._silence_s = silence_s
        self._numbers = itertools.count(1)
        self._waiting: dict[int, queue.Queue[Answer | None]] = {}
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._received_at = time.monotonic()
        self._is_over = threading.Event()
        self._fault = ""
        self._was_connected = False
        self._stderr = b""
        self._child = self._start(argv, env)
        self._input, self._output, self._errors = _pipes(self._child)
        # Noise, HELLO and frames are read through one and the same buffer.
        self._frames = io.BufferedReader(wire.Noted(self._output.read, self._note_received))
        self._threads = [threading.Thread(target=self._read_stderr, daemon=True)]
        self._threads[0].start()
        try:
            self.hello = self._greet(home)
        except BaseException:
            self.close()
            raise
        for work in (self._read, self._beat, self._watch):
            self._threads.append(threading.Thread(target=work, daemon=True))
            self._threads[-1].start()

    @classmethod
    def to(cls, place: RemoteHost) -> Self:
        """A connection over the person's ssh; see the class for errors."""
        argv = ssh_argv(place, known_hosts=known_hosts_path())
        return cls(argv, home=place.home, name=place.text())

    def call(
        self, verb: str, data: bytes = b"", *, on_progress: OnProgress | None = None, **fields: Any
    ) -> Answer:
        """Sends a request (host.main.VERBS) and waits for the answer; `on_progress` is called with
        words and a fraction (negative: unknown). Raises RemoteError where the other
        computer refused (`key` gives the reason), or the connection was lost.
        """
        for answer in self.stream(verb, data, **fields):
            if answer.is_last:
                return answer
            if on_progress is not None and "progress" in answer.fields:
                on_progress(answer.text("progress"), _fraction(answer.fields.get("fraction")))
        raise AssertionError("a stream ends with an answer")  # pragma: no cover

    def stream(self, verb: str, data: bytes = b"", **fields: Any) -> Iterator[Answer]:
        """Calls as `call` does, but yields every frame; the last one is the answer (`is_last`)."""
        number = next(self._numbers)
        frames: queue.Queue[Answer | None] = queue.Queue(_MOST_FRAMES)
        with self._lock:
            self._waiting[number] = frames
        try:
            self._send({**fields, "n": number, "verb": verb}, data)
            while True:
                answer = self._next(frames)
                if answer.is_last and answer.fields["ok"] is not True:
                    raise self._refused(answer)
                yield answer
                if answer.is_last:
                    return
        finally:
            with self._lock:
                del self._waiting[number]

    def close(self) -> None:
        """Ends the connection and the program; the other end notices and ends too."""
        self._is_over.set()
        self._end_child()
        for thread in self._threads:
            thread.join(_END_S)
        with self._sending:  # its number may be another file's as soon as it is closed
            self._input.close()
        for stream in (self._output, self._errors):
            stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _start(self, argv: Sequence[str], env: Mapping[str, str] | None) -> subprocess.Popen[bytes]:
        what = "The program ssh could not be started."
        with os_errors_as(RemoteError, what, argv[0], key="no_ssh"):
            try:
                return subprocess.Popen(
                    argv,
                    env=None if env is None else dict(env),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,  # writes go straight to the pipe: nothing is held back at the end
                    start_new_session=True,  # no terminal: ssh cannot prompt
                )
            except FileNotFoundError as error:
                raise no_ssh(argv[0]) from error

    def _greet(self, home: str) -> Mapping[str, Any]:
        """Sends the bridge's sources and waits for its HELLO; what comes before is noise.

        They are more than a pipe holds: a program that never reads them may say why meanwhile.
        """
        alarm = threading.Timer(HELLO_S, self._give_up, ["it did not respond in time"])
        alarm.daemon = True
        alarm.start()
        self._threads.append(threading.Thread(target=self._open, args=[home], daemon=True))
        self._threads[-1].start()
        try:
            line = self._hello_line()
        finally:
            alarm.cancel()
        if line is None:
            raise self._broken()
        try:
            hello = msgspec.json.decode(line[len(wire.HELLO) :], type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError):
            hello = {}
        if hello.get("proto") != wire.PROTOCOL:
            raise RemoteError(
                "The response of the other computer is not from Workbench.",
                key="protocol",
                where=self.name,
                received=plain(line.decode("utf-8", "replace")),
            )
        self._received_at = time.monotonic()
        self._was_connected = True
        return hello

    def _open(self, home: str) -> None:
        with contextlib.suppress(OSError):  # a program that has ended has printed why
            self._write(opening(home))

    def _hello_line(self) -> bytes | None:
        seen = 0
        while seen < _NOISE_BYTES:
            line = self._frames.readline(wire.LINE_LIMIT)
            if not line:
                return None
            start = line.find(wire.HELLO)  # a login script may leave its line open
            if start >= 0:
                return line[start:]
            seen += len(line)
        return None

    def _read(self) -> None:
        """Hands each frame to the caller that waits for its number, until the connection ends."""
        try:
            while (frame := wire.read_frame(self._frames)) is not None:
                fields, data = frame
                if fields["n"]:
                    self._hand_over(fields["n"], Answer(fields, data))
        except (wire.FrameFault, OSError, ValueError) as fault:
            self._give_up(str(fault))
        self._is_over.set()
        with self._lock:
            waiting = list(self._waiting)
        for number in waiting:
            self._hand_over(number, None)

    def _note_received(self) -> None:
        self._received_at = time.monotonic()

    def _hand_over(self, number: int, answer: Answer | None) -> None:
        """Waits while the caller is busy: the memory holds a few frames, not a whole file."""
        while True:
            with self._lock:
                frames = self._waiting.get(number)
            if frames is None:
                return  # no caller waits any more
            try:
                frames.put(answer, timeout=0.2)
            except queue.Full:
                self._received_at = time.monotonic()  # it is this end that is slow
            else:
                return

    def _beat(self) -> None:
        """Shows the other end that this one is running."""
        while not self._is_over.wait(_BEAT_S):
            with contextlib.suppress(RemoteError):
                self._send({"n": 0})

    def _watch(self) -> None:
        """Ends a connection on which nothing comes, also for a thread that is blocked sending."""
        while not self._is_over.wait(0.2):
            silence = time.monotonic() - self._received_at
            if silence > self._silence_s:
                self._give_up(f"no data for {silence:.0f} s")

    def _send(self, fields: Mapping[str, Any], data: bytes = b"") -> None:
        try:
            self._write(wire.encode(dict(fields), data))
        except OSError as error:
            raise self._broken() from error

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        with self._sending:
            if self._input.closed:
                raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
            while rest:
                rest = rest[os.write(self._input.fileno(), rest) :]

    def _next(self, frames: queue.Queue[Answer | None]) -> Answer:
        deadline = time.monotonic() + ANSWER_S
        while True:
            try:
                answer = frames.get(timeout=0.5)
            except queue.Empty:
                if self._is_over.is_set() and frames.empty():
                    raise self._broken() from None
                if time.monotonic() > deadline:
                    self._give_up(f"it is alive, but did not respond for {ANSWER_S:.0f} s")
                continue
            if answer is None:
                raise self._broken()
            return answer

    def _read_stderr(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while data := self._errors.read(4096):
                self._stderr = (self._stderr + data)[-_STDERR_BYTES:]

    def _give_up(self, fault: str) -> None:
        self._fault = self._fault or fault
        self._is_over.set()
        self._end_child()

    def _end_child(self) -> None:
        end_group(self._child.pid, signal.SIGTERM)
        try:
            self._child.wait(_END_S)
        except subprocess.TimeoutExpired:
            end_group(self._child.pid)
            self._child.wait()

    def _broken(self) -> RemoteError:
        """Why the connection is at its end, in words."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(_END_S)
        self._threads[0].join(_END_S)
        if self._child.returncode is None:
            self._give_up("it closed the connection")
        return words_of(
            self._child.returncode,
            self._stderr.decode("utf-8", "replace"),
            self.name,
            fault=self._fault,
            was_connected=self._was_connected,
        )

    def _refused(self, answer: Answer) -> RemoteError:
        """What the other computer says it is: its words, not advice of ours."""
        error = answer.fields.get("error")
        values = error if isinstance(error, dict) else {}
        names = ("what", "key", "where", "received", "expected", "fix")
        said = {name: plain(str(values.get(name, ""))) for name in names}
        if said["fix"]:
            advice = f"that computer suggests: {one_line(said['fix'])}"
            said["received"] = " · ".join(filter(None, (said["received"], advice)))
        name, what = self.name or "The other computer", one_line(said["what"])
        return RemoteError(
            f"{name}: {what or 'refused without a reason.'}",
            key=said["key"] if said["key"] in KEYS else "",
            where=" · ".join(filter(None, (self.name, one_line(said["where"])))),
            received=said["received"],
            expected=one_line(said["expected"]),
        )


def _pipes(child: subprocess.Popen[bytes]) -> tuple[io.FileIO, io.FileIO, io.FileIO]:
    """stdin, stdout and stderr of a program, as they are without buffers."""
    pipes = [pipe for pipe in (child.stdin, child.stdout, child.stderr) if pipe is not None]
    first, second, third = (pipe for pipe in pipes if isinstance(pipe, io.FileIO))
    return first, second, third


def _fraction(value: object) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else -1.0
