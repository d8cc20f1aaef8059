"""Messages between a service worker and its parent process that belong to any request; the others
are in the modules of their subjects. A run's events are in `events`. JSON has no NaN: None is "not
finite".
"""

from __future__ import annotations

from workbench.protocol.bases import Answer, ErrorParts, FinalAnswer, Request


class Hello(Answer, frozen=True, kw_only=True, tag="hello"):
    """First line of a service worker."""

    protocol: int
    versions: dict[str, str]
    pid: int


class Progress(Answer, frozen=True, kw_only=True, tag="progress"):
    """What the worker is doing for a request."""

    text: str
    fraction: float | None = None


class Done(FinalAnswer, frozen=True, kw_only=True, tag="done"):
    """The request is finished. Every request without a final answer of its own ends in it."""

    text: str = ""
    path: str = ""


class Failed(FinalAnswer, frozen=True, kw_only=True, tag="failed"):
    """The request could not be done; nothing was half-changed."""

    error: ErrorParts


class Cancel(Request, frozen=True, kw_only=True, tag="cancel"):
    """Stops the request `target` soon; that one then answers with Failed."""

    final_answer = Done

    target: int
