"""One message <-> one line of JSON, strict both ways.

What is sent is read once more by its sender, so a message that the other side would refuse
never leaves this one: a number that is not finite is null in JSON, which no float may be. That
costs half a microsecond, and 2 ms for a request of 20,000 images. Lines have a size limit.
Requests and answers are found by walking the folder: a module in it declares them.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import TypeVar

import msgspec

from workbench.core.format import path_text
from workbench.errors import WireError, WorkbenchError
from workbench.protocol.bases import Answer, ErrorParts, Request, decoder_of

MAX_ANSWER_BYTES = 64 << 20
"""Longest line of a service worker, its newline included: an evaluation of 10,000 classes with long
names, and a million images on the cells of its matrix."""

MAX_REQUEST_BYTES = 8 << 20
"""Longest line to a service worker: a request may hold thousands of image paths."""

Message = TypeVar("Message")

_NO_MESSAGES = ("events", "service_call")
"""Modules of the folder that are left out: log files have their own kinds, and ServiceCall needs
this module, and what starts processes, which no worker needs.
"""


def _import_kinds() -> None:
    """Imports each module of the folder, as a kind of message is known from then on."""
    folder = __name__.rpartition(".")[0]
    for info in pkgutil.walk_packages(import_module(folder).__path__, f"{folder}."):
        if info.name.removeprefix(f"{folder}.") not in _NO_MESSAGES:
            import_module(info.name)


_import_kinds()
_encoder = msgspec.json.Encoder()
_requests = decoder_of(Request)
_answers = decoder_of(Answer)


def encode_request(request: Request) -> bytes:
    """A request as one line with its newline; raises WireError: no form for it, or too long."""
    line = _encode(request, MAX_REQUEST_BYTES)
    decode_request(line)
    return line


def encode_answer(answer: Answer) -> bytes:
    """An answer as one line with its newline; see `encode_request`."""
    line = _encode(answer, MAX_ANSWER_BYTES)
    decode_answer(line)
    return line


def decode_request(line: bytes) -> Request:
    """The request in a line, with or without its newline; raises WireError where it is too long, no
    JSON, of an unknown kind, or lacks a field or has one of the wrong type (the message names it).
    """
    return _decode(_requests, line, MAX_REQUEST_BYTES)


def decode_answer(line: bytes) -> Answer:
    """The answer in a line, with or without its newline; see `decode_request`."""
    return _decode(_answers, line, MAX_ANSWER_BYTES)


def error_parts(error: WorkbenchError) -> ErrorParts:
    """An error in the form that messages carry: names of files in it may be no text."""
    texts = {key: path_text(text) for key, text in error.to_dict().items()}
    return ErrorParts(**texts, kind=type(error).__name__)


def error_from_parts(parts: ErrorParts) -> WorkbenchError:
    """The error that a message carries, of the class that it was raised with."""
    kinds = {kind.__name__: kind for kind in _family(WorkbenchError)}
    texts = {key: text for key, text in msgspec.structs.asdict(parts).items() if key != "kind"}
    return kinds.get(parts.kind, WorkbenchError)(**texts)


def _family(base: type[WorkbenchError]) -> Iterator[type[WorkbenchError]]:
    yield base
    for child in base.__subclasses__():
        yield from _family(child)


def _encode(message: msgspec.Struct, max_bytes: int) -> bytes:
    try:
        line = _encoder.encode(message) + b"\n"
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise WireError(
            "A message cannot be written as JSON.",
            where=type(message).__name__,
            received=_cut(str(error)),
            expected="text, integers, finite numbers, lists and objects",
        ) from error
    if len(line) > max_bytes:
        raise _too_long(len(line), max_bytes, type(message).__name__)
    return line


def _decode(decoder: msgspec.json.Decoder[Message], line: bytes, max_bytes: int) -> Message:
    if len(line) > max_bytes:
        raise _too_long(len(line), max_bytes)
    try:
        return decoder.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise WireError(
            "A line is not a message of the protocol.",
            where=_cut(str(error)),
            received=_cut(line.decode("utf-8", "replace").strip()),
            expected="one JSON object per line, as in workbench/protocol/messages.py",
        ) from error


def _too_long(size: int, max_bytes: int, where: str = "") -> WireError:
    return WireError(
        "A message is too long.",
        where=where,
        received=f"{size:,} bytes",
        expected=f"at most {max_bytes:,} bytes per line",
    )


def _cut(text: str) -> str:
    """At most 200 characters, control characters shown by their number."""
    shown = "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in text[:200])
    return shown if len(text) <= 200 else shown + "..."
