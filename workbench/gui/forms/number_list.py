"""Numbers out of a line such as "3 × 3": sizes and shapes. Qt-free."""

from __future__ import annotations

import re
from typing import Any

from workbench.core.params import Param, SizeParam
from workbench.errors import ParamError

_BETWEEN = re.compile(r"\s*[×x*;]\s*|\s*,\s+|\s+,?")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+", re.ASCII)
_WORDS_FOR_REST = frozenset({"rest", "?"})


def parse_numbers(text: str, param: Param) -> Any:
    """Numbers out of "3 × 3", "3x3", "3, 3", "(3, 3)", "1,024 × 3" or, for equal axes, "3".

    Text that is none of these comes back as it is, so that the check can quote it. No text
    means zeros where these have a meaning of their own.

    Raises:
        ParamError: a comma of which nothing says whether it parts axes or thousands.
    """
    if isinstance(param, SizeParam) and param.zero_text and text.strip() in {"", param.zero_text}:
        return 0
    words = text.strip().removesuffix(param.unit).strip().strip("()[]").lower()
    parts = [part for part in _BETWEEN.split(words) if part]
    if len(parts) == 1 and _GROUPED.fullmatch(parts[0]):
        numbers = _one_or_several(parts[0], param)
    else:
        numbers = [number for part in parts for number in _numbers(part)]
    if not numbers or "" in numbers:
        return text
    whole = [int(number) for number in numbers]
    return whole[0] if isinstance(param, SizeParam) and len(whole) == 1 else whole


def _numbers(part: str) -> list[str]:
    """The digits of what is between two separators; "" for what is no number."""
    if _GROUPED.fullmatch(part):
        return [part.replace(",", "")]
    pieces = [("-1" if each in _WORDS_FOR_REST else each) for each in part.split(",") if each]
    return [each if re.fullmatch(r"-?\d{1,12}", each, re.ASCII) else "" for each in pieces]


def _one_or_several(part: str, param: Param) -> list[str]:
    """Digits of "1,024" or "64,100": thousands, or axes, whichever is allowed."""
    several, one = part.split(","), part.replace(",", "")
    if any(each.startswith("0") for each in several) or not _allows(param, several):
        return [one]
    if not _allows(param, [one]):
        return several
    raise ParamError(
        f"“{part}” may be {' × '.join(several)} or {one}.",
        where=param.key,
        received=part,
        fix=f"Enter {' × '.join(several)}, or {one} without a comma.",
    )


def _allows(param: Param, numbers: list[str]) -> bool:
    whole = [int(number) for number in numbers]
    try:
        param.check(whole[0] if isinstance(param, SizeParam) and len(whole) == 1 else whole)
    except ParamError:
        return False
    return True
