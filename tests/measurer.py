"""Replaces the measuring worker."""

from __future__ import annotations


class Measurer:
    """Keeps requests and cancellations; `answer` is called with an answer."""

    def __init__(self, context, monkeypatch):
        self.requests, self.cancelled, self.answer = [], [], None
        monkeypatch.setattr(context.measurer, "send", self._send)
        monkeypatch.setattr(context.measurer, "cancel", self.cancelled.append)

    def _send(self, request, on_answer):
        self.requests.append(request)
        self.answer = on_answer
        return len(self.requests)
