"""Numbers, shapes, sizes and durations as people write them: the one place for all of them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from datetime import datetime

MAX_NAME = 100
"""Letters that a class name has at most."""

_JOINERS = "\u200c\u200d"  # not printable, but part of Persian words, of Indic letters and emoji
_BYTE_UNITS = ("bytes", "kB", "MB", "GB", "TB")
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


def milliseconds_text(milliseconds: float) -> str:
    """A measured time with three figures, in seconds from one on: 0.5123 -> "0.512 ms"; 407.2 ->
    "407 ms"; 1090 -> "1.1 s".
    """
    if 0 <= milliseconds < 999.5:
        return f"{float(f'{milliseconds:.3g}'):g} ms"
    return duration(milliseconds / 1000)


def clock(seconds: float) -> str:
    """A time that counts up or down, in whole seconds: "7 s", "14 min 52 s"."""
    whole = round(seconds)
    return f"{whole} s" if whole < 10 else duration(whole)


def rough_duration(seconds: float) -> str:
    """An estimated duration with the two digits that it is good for: "12 s", "1.5 h"."""
    for limit_s, unit_s, unit in ((90, 1, "s"), (5400, 60, "min"), (math.inf, 3600, "h")):
        if seconds < limit_s:
            return f"{float(f'{max(seconds, 0.1) / unit_s:.2g}'):g} {unit}"
    return "–"


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


def bytes_text(count: float) -> str:
    """1_100_000_000 -> "1.1 GB" (decimal units, as file managers write them)."""
    value = float(count)
    power = 0
    while value >= 999.5 and power < len(_BYTE_UNITS) - 1:
        value, power = value / 1000, power + 1
    return f"{three_figures(value) if power else f'{value:.0f}'} {_BYTE_UNITS[power]}"


def memory_text(count: float) -> str:
    """Memory, in MB or GB alone, so that figures beside each other have one unit:
    1_666_000_000_000 -> "1,666 GB".
    """
    if count < 999_500_000:
        return bytes_text(count)
    value = count / 1e9
    return f"{value:,.0f} GB" if value >= 99.95 else f"{value:.1f} GB"


def three_figures(value: float) -> str:
    """12.345 -> "12.3"; 123.4 -> "123"."""
    return f"{value:.{0 if abs(value) >= 99.95 else 1}f}"


def shape_text(shape: Sequence[int]) -> str:
    """A shape as people write it: 16 × 16 × 64; 28,800."""
    return " × ".join(f"{n:,}" for n in shape) if shape else "a single number"


def image_size_text(shape: Sequence[int]) -> str:
    """The size of an image as people and cameras write it, width first: 306 × 224.

    Args:
        shape: Height and width in pixels, perhaps followed by the number of channels.
    """
    height, width, *channels = shape
    colors = {1: ", grayscale", 3: ", color"}.get(channels[0], "") if channels else ""
    return f"{width:,} × {height:,}{colors}"


def path_text(path: str) -> str:
    """A path as text that every message and log can hold: bytes that are no UTF-8 are escaped."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def plain_name(value: object) -> str:
    """A class name out of a file or of a folder's name, as it can be shown and stored.

    With composed letters (NFC), without control characters and bytes that are no text, at most
    MAX_NAME long. Different names may become the same: see `class_names.unique`.
    """
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    letters = map(_shown, unicodedata.normalize("NFC", text))
    return "".join(letters)[:MAX_NAME].strip() or "(no name)"


def _shown(letter: str) -> str:
    if letter.isprintable() or letter in _JOINERS:
        return letter
    return " " if unicodedata.category(letter) == "Zs" else "?"


def within_sentence(title: str) -> str:
    """Lowers the first letter of a title, but not of an abbreviation such as "TPU"."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def list_text(items: Sequence[str]) -> str:
    """Items of a list in a sentence: a, b and c."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def rate_text(rate: float) -> str:
    """A learning rate as people write it: 0.003, 1e-06."""
    return f"{rate:.3g}"


def epochs_text(epochs: float) -> str:
    """Epochs in words: 3 epochs, 1 epoch, 0.03 epochs."""
    return "1 epoch" if epochs == 1 else f"{epochs:.3g} epochs"


def local_time(moment: float) -> datetime | None:
    """A moment, in seconds since the epoch, as local time; None for a number that is no moment: one
    of a file from elsewhere.
    """
    try:
        return datetime.fromtimestamp(moment).astimezone()
    except (OverflowError, ValueError, OSError):
        return None
