"""Throttle that decides when a live plot is drawn again: as often as the eye gains something, and
no more.

Drawing takes time from the training it shows.
"""

from __future__ import annotations

LIVE_SHARE = 0.006
"""New values may take this share of one processor. What the user changes (zoom,
smoothing, another run) is drawn at once."""

MIN_INTERVAL_S = 0.4
MAX_INTERVAL_S = 5.0


class RedrawThrottle:
    """Decides when new values are worth a drawing. Times are in seconds of one clock."""

    def __init__(self) -> None:
        self._drawn_at = float("-inf")
        self._interval_s = MIN_INTERVAL_S
        self._drawn_size: tuple[int, ...] = ()

    def drew(self, now_s: float, cost_s: float, size: tuple[int, ...]) -> None:
        """A drawing of so many batches, epochs, ... is done, and took that processor time."""
        self._drawn_at = now_s
        self._drawn_size = size
        self._interval_s = min(MAX_INTERVAL_S, max(MIN_INTERVAL_S, cost_s / LIVE_SHARE))

    def wait_s(self, now_s: float, size: tuple[int, ...], steps_per_pixel: float) -> float:
        """Seconds until the next drawing is due; 0.0 when it is.

        Batches that do not fill a pixel column may wait for the longest interval; an epoch
        may not.
        """
        interval_s = self._interval_s
        if len(size) == len(self._drawn_size):
            is_small = size[0] - self._drawn_size[0] < steps_per_pixel
            if size[1:] == self._drawn_size[1:] and is_small:
                interval_s = MAX_INTERVAL_S
        return max(0.0, self._drawn_at + interval_s - now_s)
