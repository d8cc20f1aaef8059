"""What all requests and all answers have."""

from __future__ import annotations

import msgspec


class Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="request"):
    """A request to a service worker; `id` is repeated in every answer to it."""

    id: int


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer"):
    """An answer of a service worker; `id` is the request's, 0 for none."""

    id: int = 0
