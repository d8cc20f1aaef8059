"""Numbers as people write them."""

from __future__ import annotations

import math

_SHORT_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_BYTE_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def count(number: int) -> str:
    """1676982 -> "1,676,982"."""
    return f"{number:,}"


def short(number: float) -> str:
    """24_100_000 -> "24.1 M"; whole numbers below a thousand as they are."""
    for size, unit in _SHORT_UNITS:
        if abs(number) >= size * 0.9995:
            return f"{_three_figures(number / size)} {unit}"
    return f"{number:g}" if number == int(number) else f"{number:.3g}"


def _three_figures(value: float) -> str:
    decimals = 0 if abs(value) >= 99.95 else 1
    return f"{value:.{decimals}f}"


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


def bytes_text(num_bytes: float) -> str:
    """1_100_000_000 -> "1.1 GB" (decimal units, as file managers write them)."""
    value = float(num_bytes)
    for unit in _BYTE_UNITS:
        if value < 999.5 or unit == _BYTE_UNITS[-1]:
            text = f"{value:.0f}" if unit == "bytes" else _three_figures(value)
            return f"{text} {unit}"
        value /= 1000
    raise AssertionError


def plural(number: int, one: str, many: str | None = None) -> str:
    """(1, "problem") -> "1 problem"; (2, "problem") -> "2 problems"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
