"""The bridge: reads requests from stdin, answers on stdout, ends with the connection.

Nothing here hangs: a beat each second shows the other end that this one is running; silence of
the other end, or the end of stdin, ends the bridge with all that it started but trainers.
"""

import io
import os
import queue
import signal
import sys
import threading
import time
import traceback
from typing import IO, Any, Callable, Dict, Tuple, cast

from workbench.host import children, environment, follow, probe, run, store, wire
from workbench.host.faults import Fault
from workbench.host.home import Home
from workbench.host.request import Answer, HostRequest

VERBS: Dict[str, Callable[[HostRequest], Answer]] = {
    "probe": probe.probe,
    "environment": environment.make,
    "have": store.have,
    "put": store.put,
    "commit": store.commit,
    "create": run.create,
    "start": run.start,
    "refuse": run.refuse,
    "control": run.control,
    "signal": run.signal,
    "stat": follow.stat,
    "read": follow.read,
    "list": run.list_runs,
    "forget": run.forget,
}
"""Answered one after another."""

STREAMS: Dict[str, Callable[[HostRequest], Answer]] = {"attach": follow.attach}
"""Answered beside the others."""

SILENCE_S = 60.0
"""The other end sends a beat every few seconds; after so long it is gone."""

Request = Tuple[Dict[str, Any], bytes]


class Bridge:
    """One connection to the other end.

    Args:
        home: Our folder here.
        read: Gives what has come, at most so many bytes; waits for the first.
        target: What goes.
    """

    def __init__(self, home: Home, read: Callable[[int], bytes], target: IO[bytes]) -> None:
        self._home = home
        self._source = io.BufferedReader(wire.Noted(read, self._note_received))
        self._target = target
        self._lock = threading.Lock()
        self._requests: queue.Queue[Request] = queue.Queue()
        self._received_at = time.monotonic()

    def serve(self) -> None:
        """Answers until the connection ends; returns then."""
        self._write(wire.hello({"python": "%d.%d.%d" % sys.version_info[:3]}))
        for work in (self._beat, self._work, self._watch):
            threading.Thread(target=work, daemon=True).start()
        while True:
            frame = wire.read_frame(self._source)
            if frame is None:
                return
            fields = frame[0]
            if fields["n"] == 0:
                continue
            if fields.get("verb") in STREAMS:
                threading.Thread(target=self._answer, args=(frame,), daemon=True).start()
            else:
                self._requests.put(frame)

    def _note_received(self) -> None:
        self._received_at = time.monotonic()

    def _work(self) -> None:
        while True:
            self._answer(self._requests.get())

    def _answer(self, request: Request) -> None:
        fields, data = request
        number, verb = fields["n"], fields.get("verb")

        def send(more: Dict[str, Any], piece: bytes) -> None:
            self._send(dict(more, n=number), piece)

        try:
            self._home.make()
            known = VERBS.get(str(verb)) or STREAMS.get(str(verb), unknown)
            answer, piece = known(HostRequest(self._home, fields, data, send))
            self._send(dict(answer, n=number, ok=True), piece)
        except Fault as fault:
            self._send({"n": number, "ok": False, "error": fault.to_dict()})
        except Exception:  # noqa: BLE001 - the other end gets the traceback
            failed = Fault(
                "internal",
                "Workbench failed on the other computer.",
                where=str(verb)[:100],
                received=traceback.format_exc()[-1500:],
            )
            self._send({"n": number, "ok": False, "error": failed.to_dict()})

    def _send(self, fields: Dict[str, Any], data: bytes = b"") -> None:
        self._write(wire.encode(fields, data))

    def _write(self, data: bytes) -> None:
        try:
            with self._lock:
                self._target.write(data)
                self._target.flush()
        except OSError:
            end(0)  # the other end is gone

    def _beat(self) -> None:
        while True:
            time.sleep(wire.BEAT_S)
            self._send({"n": 0})

    def _watch(self) -> None:
        """Ends the bridge also while the other threads are blocked writing to the connection."""
        while time.monotonic() - self._received_at < SILENCE_S:
            time.sleep(1.0)
        end(1)


def unknown(request: HostRequest) -> Answer:
    """What this bridge is not for."""
    raise Fault("request", "Unknown command.", received=request.text("verb")[:100])


def end(code: int) -> None:
    """Ends this process and what it started; threads that wait are not waited for."""
    children.end_all()
    os._exit(code)


def main(home: str) -> None:
    """Serves one line on stdin and stdout; never returns."""
    os.umask(0o077)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: end(1))
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything prints must not come between the frames
    code = 0
    try:
        os.chdir("/")
        Bridge(Home(home), cast("io.BufferedReader", sys.stdin.buffer).read1, target).serve()
    except wire.FrameFault as fault:
        sys.stderr.write("Not a line of Workbench: %s\n" % fault)
        code = 1
    except Exception:  # noqa: BLE001 - the other end shows what it reads here
        traceback.print_exc()
        code = 1
    finally:
        end(code)
