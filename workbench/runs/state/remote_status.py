"""Status of a run that another computer trains, as far as it is known locally."""

from __future__ import annotations

from workbench.protocol.events import RunFinished
from workbench.runs.folder import RunFolder
from workbench.runs.link import Link, link_words, read_link, read_remote
from workbench.runs.places import place_words
from workbench.runs.store.checkpoint import newest_state


def mirror_words(link: Link) -> str:
    """The state of a active run mirror beyond the events it brings; "" while they come."""
    words = link_words(link)
    if link.state == "lost":
        return f"{words} Training continues there; no results are lost."
    return words


def is_away(run: RunFolder, finished: RunFinished | None, *, has_just_begun: bool) -> bool:
    """Whether a run with a free lock, whose run mirror has ended, may go on elsewhere all the same.

    Args:
        run: The run.
        finished: Its last event, if that was its end.
        has_just_begun: Nothing was logged since it was started or resumed.
    """
    if read_remote(run) is None or (finished is not None and not has_just_begun):
        return False
    link = read_link(run)
    return link is None or link.state != "ended"


def away_words(run: RunFolder, step: int | None) -> str:
    """Sentence with the place of a run without a connection, or how it was lost, at `step` if
    known.
    """
    link, remote = read_link(run), read_remote(run)
    host = "another computer"
    if remote is not None:  # the address itself: the other text may say anything
        host = place_words(remote.choice()) or remote.host
    if link is not None and link.state == "gone":
        return gone_words(run, link, step)
    if link is not None and link.state == "refused":
        return f"{link_words(link)} The run may still be training on {host}; {_kept_words(run)}"
    return f"Training on {host}; not connected."


def gone_words(run: RunFolder, link: Link, step: int | None) -> str:
    """How a run was lost, and from where it can go on."""
    who = link.device or link.host or "The other computer"
    where = "" if step is None else f" at step {step:,}"
    return f"{who} was lost{where}; {_kept_words(run)}"


def never_arrived_words(link: Link) -> str:
    """Why a run never began elsewhere."""
    if link.state == "refused":
        return link_words(link)
    return f"It was terminated before the run started on {link.host or 'the other computer'}."


def _kept_words(run: RunFolder) -> str:
    state = newest_state(run)
    if state is None:
        return "no checkpoint on this computer."
    return f"last checkpoint on this computer: step {state.step:,}."
