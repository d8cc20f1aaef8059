"""Frames: one line of JSON, and the bytes that it announces.

Used on both ends of the connection to another computer; `head`, `read_head` and `read_exactly` also
between machines that train together, and by readers of foreign files.

{"n": 7, "verb": "put", "sha": "...", "offset": 0, "bytes": 1048576}   and that many bytes
{"n": 7, "ok": true, "offset": 1048576}

A request has a number and is answered once, with `ok`; frames of the same number without `ok`
may come before: progress, and what a stream carries. A frame of number 0 is a beat: this end
is running. The host begins with a HELLO line; all before it is output of login scripts.
"""

import io
import json
from typing import IO, Any, Callable, Dict, Optional, Tuple

PROTOCOL = 1
HELLO = b"\x1eHELLO "
LINE_LIMIT = 64 * 1024
DATA_LIMIT = 4 * 1024 * 1024
CHUNK = 256 * 1024
"""Most bytes of a file in one frame: a slow connection carries it in seconds."""

BEAT_S = 1.0
"""Seconds between two beats of the host."""

Fields = Dict[str, Any]


class FrameFault(Exception):  # noqa: N818 - its text becomes an error of either end
    """What came is not a frame: too long, not JSON, or cut off in its middle."""


def encode(fields: Fields, data: bytes = b"") -> bytes:
    """A frame as bytes; raises FrameFault where it is longer than the other end would take."""
    if len(data) > DATA_LIMIT:
        raise FrameFault("a frame is too long: %d bytes" % len(data))
    return head(fields, len(data)) + data


def head(fields: Fields, size: int, limit: int = LINE_LIMIT) -> bytes:
    """The line that announces so many bytes; see `encode` for errors."""
    whole = dict(fields)
    whole["bytes"] = size
    line = json.dumps(whole, separators=(",", ":")).encode("ascii") + b"\n"
    if len(line) > limit:
        raise FrameFault("a line is too long: %d bytes" % len(line))
    return line


def read_frame(stream: IO[bytes]) -> Optional[Tuple[Fields, bytes]]:
    """The next numbered frame, None at the end; raises FrameFault for anything else."""
    announced = read_head(stream)
    if announced is None:
        return None
    fields, size = announced
    if type(fields.get("n")) is not int:
        raise FrameFault("a frame has no number: %r" % list(fields)[:5])
    return fields, read_exactly(stream, size)


def read_head(stream: IO[bytes], limit: int = LINE_LIMIT) -> Optional[Tuple[Fields, int]]:
    """The fields of the next frame, and how many bytes follow; see `read_frame`."""
    line = stream.readline(limit)
    if not line:
        return None
    if not line.endswith(b"\n"):
        raise FrameFault("a line is cut off or too long: %r" % line[:80])
    try:
        fields = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise FrameFault("a line is not JSON: %r" % line[:80]) from None
    size = fields.get("bytes") if isinstance(fields, dict) else None
    if type(size) is not int or size < 0:
        raise FrameFault("a line is not a frame: %r" % line[:80])
    return fields, size


def read_exactly(stream: IO[bytes], size: int, limit: int = DATA_LIMIT) -> bytes:
    """So many bytes; raises FrameFault where they are over the limit, or the stream ends before."""
    if size > limit:
        raise FrameFault("a frame is too long: %d bytes" % size)
    parts = []
    while size:
        part = stream.read(size)
        if not part:
            raise FrameFault("the connection ended within a frame")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class Noted(io.RawIOBase):
    """A pipe that notes whenever something comes: a long frame on a slow connection is no silence.

    Args:
        read: Gives what is there of the pipe, at most so many bytes; waits for the first.
        note: Called after each piece.
    """

    def __init__(self, read: Callable[[int], Optional[bytes]], note: Callable[[], None]) -> None:
        super().__init__()
        self._read = read
        self._note = note

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        data = self._read(len(buffer)) or b""
        buffer[: len(data)] = data
        self._note()
        return len(data)


def hello(facts: Fields) -> bytes:
    """The line that marks the begin of the frames."""
    whole = dict(facts)
    whole["proto"] = PROTOCOL
    return HELLO + json.dumps(whole).encode("ascii") + b"\n"
