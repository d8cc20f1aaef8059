"""Numbers as people write them."""

from __future__ import annotations

import math

from workbench.core.network.text import three_figures

_SHORT_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def count(number: int) -> str:
    """1676982 -> "1,676,982"."""
    return f"{number:,}"


def short(number: float) -> str:
    """24_100_000 -> "24.1 M"; whole numbers below a thousand as they are."""
    for size, unit in _SHORT_UNITS:
        if abs(number) >= size * 0.9995:
            return f"{three_figures(number / size)} {unit}"
    return f"{number:g}" if number == int(number) else f"{number:.3g}"


def share(part: float | None, decimals: int = 1) -> str:
    """0.809 -> "80.9%"; None or not finite -> "–"."""
    if part is None or not math.isfinite(part):
        return "–"
    return f"{part * 100:.{decimals}f}%"


def duration(seconds: float) -> str:
    """892 -> "14 min 52 s"; 3780 -> "1 h 03 min"; 0.006 -> "6 ms"."""
    if seconds < 0 or not math.isfinite(seconds):
        return "–"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if minutes == 0:
        return f"{rest} s"
    hours, minutes_left = divmod(minutes, 60)
    if hours == 0:
        return f"{minutes} min {rest:02d} s"
    days, hours_left = divmod(hours, 24)
    return f"{days} d {hours_left} h" if days else f"{hours} h {minutes_left:02d} min"


def plural(number: int, one: str, many: str | None = None) -> str:
    """(1, "problem") -> "1 problem"; (2, "problem") -> "2 problems"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def number_text(value: float | None) -> str:
    """A metric as people read it: four decimals, more only where it is tiny; None -> "–"."""
    if value is None:
        return "–"
    if value != 0.0 and abs(value) < 0.001:
        return f"{value:.3e}"
    return f"{value:.4f}" if abs(value) < 10_000 else f"{value:.4g}"
