"""Writing the report of a run."""

from __future__ import annotations

from workbench.protocol.bases import Request
from workbench.protocol.messages import Done


class MakeReport(Request, frozen=True, kw_only=True, tag="report"):
    """Writes the report of a run, whatever it has, as HTML or PDF, by the ending of `path`.
    Answer: Done with the words to show.
    """

    final_answer = Done

    run: str
    path: str
