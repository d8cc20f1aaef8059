"""A TCP proxy that cuts its connections at random bytes: closed, reset, or silent for good."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import threading
import time
from collections import Counter

_STALL_S = 60.0
_EARLY_SHARE = 0.25
_CONNECTED_BYTES = 60_000
"""So much goes up before the other end can have sent a frame of ours."""


class CuttingLine:
    """Listens on this computer and forwards to an address; cuts while `is_cutting`.

    Args:
        target: (host, port) of the server behind it.
        rng: Decides when and how.
        stall_share: Share of cuts after which nothing is said any more, as when a cable is
            pulled: the other ends have to notice by themselves.

    Attributes:
        cuts: How many were made, by their kind; counted at once when one is made.
        bytes_up: Passed on to the server so far.
        is_cutting: New connections get a cut; those before go on as they were begun.
    """

    def __init__(
        self, target: tuple[str, int], rng: random.Random, *, stall_share: float = 0.04
    ) -> None:
        self._target = target
        self._rng = rng
        self._stall_share = stall_share
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.cuts: Counter[str] = Counter()
        self.connections = 0
        self.bytes_up = 0
        self.is_cutting = False
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """No more connections; those that are there end with this process."""
        self._server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._server.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(self._target, timeout=20)
        except OSError:
            near.close()
            return
        far.settimeout(None)
        cut = _Cut(self._rng, self._stall_share) if self.is_cutting else None
        pumps = [
            threading.Thread(target=self._pump, args=(*pair, cut), daemon=True)
            for pair in ((near, far, True), (far, near, False))
        ]
        for pump in pumps:
            pump.start()
        for pump in pumps:
            pump.join()
        for end in (near, far):
            end.close()

    def _pump(
        self, source: socket.socket, target: socket.socket, is_up: bool, cut: _Cut | None
    ) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                if cut is not None:
                    passed = cut.share_of(data, is_up=is_up)
                    target.sendall(data[:passed])
                    if passed < len(data) or cut.is_made:
                        self._make(cut, source, target)
                        return
                else:
                    target.sendall(data)
                if is_up:
                    with self._lock:
                        self.bytes_up += len(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def _make(self, cut: _Cut, source: socket.socket, target: socket.socket) -> None:
        with self._lock:
            if not cut.is_counted:
                cut.is_counted = True
                self.cuts[cut.kind] += 1
        if cut.kind == "stall":
            time.sleep(_STALL_S)
        for end in (source, target):
            if cut.kind == "reset":
                with contextlib.suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class _Cut:
    """One connection's cut: after so many bytes, or within the first piece after a moment.

    A quarter is cut while the line is made, by bytes alone. Of the others the moment is counted
    from when it is made: a line that trains carries little, and by bytes would hardly ever be cut.
    """

    def __init__(self, rng: random.Random, stall_share: float) -> None:
        self._rng = rng
        is_early = rng.random() < _EARLY_SHARE
        self._left = int(10 ** (rng.uniform(2.0, 5.0) if is_early else rng.uniform(5.3, 6.5)))
        self._wait_s = rng.uniform(0.1, 5.0)
        self._up = 0
        self._until: float | None = None
        self._lock = threading.Lock()
        self.kind = "stall" if rng.random() < stall_share else rng.choice(("close", "reset"))
        self.is_made = False
        self.is_counted = False

    def share_of(self, data: bytes, *, is_up: bool) -> int:
        """How many bytes of a piece still pass; both directions count."""
        with self._lock:
            if self.is_made:
                return 0
            self._up += len(data) if is_up else 0
            if self._until is None and self._up > _CONNECTED_BYTES:
                self._until = time.monotonic() + self._wait_s
            if self._until is not None and time.monotonic() > self._until:
                self.is_made = True
                return self._rng.randrange(len(data) + 1)
            passed = min(len(data), self._left)
            self._left -= passed
            self.is_made = not self._left
            return passed
