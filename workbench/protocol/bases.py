"""What all requests and all answers have, and an error in any of them."""

from __future__ import annotations

import msgspec

PROTOCOL_VERSION = 1


class Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="request"):
    """A request to a service worker; `id` is repeated in every answer to it."""

    id: int


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer"):
    """An answer of a service worker; `id` is the request's, 0 for none."""

    id: int = 0


class ErrorParts(msgspec.Struct, frozen=True, kw_only=True):
    """A WorkbenchError on the wire; `kind` is its class, "" where that is not known."""

    what: str
    where: str = ""
    received: str = ""
    expected: str = ""
    fix: str = ""
    kind: str = ""
