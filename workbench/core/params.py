"""Typed parameters: what a form shows, a file stores, and a check accepts.

A parameter is a frozen description; values are plain JSON values (tuples where JSON has
lists). `check(value)` returns the value in its canonical form or raises ParamError.
"""

from __future__ import annotations

import ast
import json
import math
import operator
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from workbench.errors import ParamError

Params = Mapping[str, Any]

_MAX_PATH = 4096  # of Linux


@dataclass(frozen=True)
class Param:
    """What every parameter has.

    Attributes:
        key: Name in files and in Keras, e.g. "kernel_size".
        default: Canonical value used where none is given.
        help: One or two sentences for the tooltip and the help page.
        title: Name in the form; by default the key in words, e.g. "Kernel size".
        unit: Unit shown behind the value, e.g. "px"; empty for plain numbers.
        is_advanced: Folded away in the form until asked for.
        group: Heading of the section of the form it belongs to; "" for the first.
    """

    key: str
    default: Any
    help: str
    _: KW_ONLY
    title: str = ""
    unit: str = ""
    is_advanced: bool = False
    group: str = ""

    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.key.replace("_", " ").capitalize())

    def check(self, value: Any) -> Any:
        """Returns `value` in canonical form; raises ParamError when it is not allowed."""
        raise NotImplementedError

    def is_usual(self, value: Any) -> bool:
        """Whether this is what is there until somebody chooses."""
        return bool(value == self.default)

    def show(self, value: Any) -> str:
        """The value as people write it; the JSON text of one that is not allowed, as a file from
        elsewhere may have it. Never fails.
        """
        try:
            return self._shown(self.check(value))
        except ParamError:
            return _json_text(value)

    def _shown(self, value: Any) -> str:
        """An allowed value, in canonical form, as people write it."""
        return f"{value} {self.unit}".strip()

    def expected(self) -> str:
        """The allowed values in words."""
        raise NotImplementedError

    @property
    def listed(self) -> str:
        """The allowed values as a form shows them."""
        return self.expected()

    def _refuse(self, value: Any) -> ParamError:
        return ParamError(
            f"{self.title} cannot be {_quote(value)}.",
            where=self.key,
            received=_quote(value),
            expected=self.expected(),
            fix=f"The default is {self._shown(self.default)}.",
        )


def _quote(value: Any) -> str:
    try:
        text = f'"{value}"' if isinstance(value, str) else repr(value)
    except (ValueError, RecursionError):  # a number of very many digits
        text = type(value).__name__
    return _short(text)


def _json_text(value: Any) -> str:
    try:
        return _short(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):  # no value of a file
        return _quote(value)


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."


def is_int(value: Any) -> bool:
    """Whether a JSON value is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True, kw_only=True)
class IntParam(Param):
    """A whole number from `minimum` to `maximum`; None too where `is_optional`."""

    minimum: int = 1
    maximum: int = 65_536
    is_optional: bool = False
    none_text: str = "automatic"
    kind: ClassVar[str] = "int"

    def check(self, value: Any) -> int | None:
        if value is None and self.is_optional:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not is_int(value) or not self.minimum <= value <= self.maximum:
            raise self._refuse(value)
        return int(value)

    def _shown(self, value: Any) -> str:
        return self.none_text if value is None else f"{value:,} {self.unit}".strip()

    def expected(self) -> str:
        words = f"a whole number from {self.minimum:,} to {self.maximum:,}"
        return f"{words}, or empty ({self.none_text})" if self.is_optional else words


@dataclass(frozen=True, kw_only=True)
class FloatParam(Param):
    """A finite number from `minimum` to `maximum` (each may be excluded); None too where
    `is_optional`.
    """

    minimum: float = 0.0
    maximum: float = 1e9
    is_minimum_excluded: bool = False
    is_maximum_excluded: bool = False
    step: float = 0.01
    is_optional: bool = False
    none_text: str = "automatic"
    kind: ClassVar[str] = "float"

    def check(self, value: Any) -> float | None:
        if value is None and self.is_optional:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._refuse(value)
        try:
            number = float(value)
        except OverflowError:
            raise self._refuse(value) from None
        too_low = number < self.minimum or (self.is_minimum_excluded and number == self.minimum)
        too_high = number > self.maximum or (self.is_maximum_excluded and number == self.maximum)
        if not math.isfinite(number) or too_low or too_high:
            raise self._refuse(value)
        return number

    def _shown(self, value: Any) -> str:
        return self.none_text if value is None else f"{value:g} {self.unit}".strip()

    def expected(self) -> str:
        low = "above" if self.is_minimum_excluded else "from"
        high = "to below" if self.is_maximum_excluded else "to"
        words = f"a number {low} {_number(self.minimum)} {high} {_number(self.maximum)}"
        return f"{words}, or empty ({self.none_text})" if self.is_optional else words


def _number(value: float) -> str:
    """1000000.0 -> "1,000,000"; 0.001 -> "0.001"."""
    return f"{int(value):,}" if value == int(value) else f"{value:g}"


@dataclass(frozen=True, kw_only=True)
class BoolParam(Param):
    """Yes or no."""

    kind: ClassVar[str] = "bool"

    def check(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self._refuse(value)
        return value

    def _shown(self, value: Any) -> str:
        return "yes" if value else "no"

    def expected(self) -> str:
        return "true or false"


@dataclass(frozen=True, kw_only=True)
class ChoiceParam(Param):
    """One word of a list.

    Attributes:
        choices: The allowed words, in the order of the form.
        titles: Words for people by choice, where they differ from the choice itself.
        of_new: What new projects have where that is not the default of old ones; "" for none.
    """

    choices: tuple[str, ...]
    titles: Mapping[str, str] = field(default_factory=dict)
    of_new: str = ""
    kind: ClassVar[str] = "choice"

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise self._refuse(value)
        return value

    def is_usual(self, value: Any) -> bool:
        return value in (self.default, self.of_new)

    def _shown(self, value: Any) -> str:
        return self.titles.get(value, str(value))

    def expected(self) -> str:
        return "one of " + ", ".join(self.choices)

    @property
    def listed(self) -> str:
        return "one of " + ", ".join(map(self._shown, self.choices))


@dataclass(frozen=True, kw_only=True)
class SizeParam(Param):
    """A fixed number of whole numbers, such as a kernel's height and width.

    A single number means the same on all axes. Channels of images, which are the last axis, are
    those of the default where one or two numbers are given.

    Attributes:
        axes: A name for each number; their count is the length of the value.
        zero_text: What a value of zeros means; "" where zeros are plain numbers.
    """

    axes: tuple[str, ...] = ("height", "width")
    minimum: int = 1
    maximum: int = 65_536
    zero_text: str = ""
    kind: ClassVar[str] = "size"

    def check(self, value: Any) -> tuple[int, ...]:
        numbers = (
            [value] * (2 if self._has_channels else len(self.axes)) if is_int(value) else value
        )
        if self._has_channels and isinstance(numbers, list | tuple) and len(numbers) == 2:
            numbers = (*numbers, self.default[-1])
        is_right = isinstance(numbers, list | tuple) and len(numbers) == len(self.axes)
        if not is_right or not all(
            is_int(n) and self.minimum <= n <= self.maximum for n in numbers
        ):
            raise self._refuse(value)
        return tuple(numbers)

    @property
    def _has_channels(self) -> bool:
        return self.axes[-1] == "channels"

    def _shown(self, value: Any) -> str:
        if self.zero_text and not any(value):
            return self.zero_text
        return f"{' × '.join(f'{n:,}' for n in value)} {self.unit}".strip()

    def expected(self) -> str:
        bounds = f"from {self.minimum:,} to {self.maximum:,}"
        if len(self.axes) == 2:
            return f"one or two whole numbers {bounds}, for example 3 or 3 × 5"
        if self._has_channels:
            return f"height, width and channels {bounds}, for example 192 or 192 × 192 × 3"
        return f"{len(self.axes)} whole numbers ({', '.join(self.axes)}) {bounds}"


@dataclass(frozen=True, kw_only=True)
class ShapeParam(Param):
    """A shape of any rank in bounds; -1 means "the rest" once where `can_infer`."""

    min_rank: int = 1
    max_rank: int = 4
    can_infer: bool = False
    maximum: int = 1_048_576
    kind: ClassVar[str] = "shape"

    def check(self, value: Any) -> tuple[int, ...]:
        if not (
            isinstance(value, list | tuple)
            and self.min_rank <= len(value) <= self.max_rank
            and value.count(-1) <= int(self.can_infer)
            and all(is_int(n) and (n == -1 or 1 <= n <= self.maximum) for n in value)
        ):
            raise self._refuse(value)
        return tuple(value)

    def _shown(self, value: Any) -> str:
        return " × ".join("rest" if n == -1 else f"{n:,}" for n in value)

    def expected(self) -> str:
        rest = ", -1 once for the rest" if self.can_infer else ""
        return f"{self.min_rank} to {self.max_rank} whole numbers from 1 to {self.maximum:,}{rest}"


@dataclass(frozen=True, kw_only=True)
class PathParam(Param):
    """A file or folder of the user's; the empty text means "not chosen yet".

    Attributes:
        is_folder: A folder is wanted, not a file.
        patterns: File-dialog patterns, e.g. ("*.npz",).
        is_glob: May name several files by a pattern, e.g. "data/train-*".
        empty_text: What the empty text means where that is a place, for the form.
    """

    is_folder: bool = False
    patterns: tuple[str, ...] = ()
    is_glob: bool = False
    empty_text: str = ""
    kind: ClassVar[str] = "path"

    def check(self, value: Any) -> str:
        if not _is_path(value):
            raise self._refuse(value)
        return str(value)

    def expected(self) -> str:
        return "the path of a folder" if self.is_folder else "the path of a file"


@dataclass(frozen=True, kw_only=True)
class PathsParam(Param):
    """Several folders of the user's; none means "not chosen yet".

    Attributes:
        maximum: Most folders.
    """

    maximum: int = 10_000
    kind: ClassVar[str] = "paths"

    def check(self, value: Any) -> tuple[str, ...]:
        is_list = isinstance(value, list | tuple) and len(value) <= self.maximum
        if not is_list or not all(_is_path(each) and each for each in value):
            raise self._refuse(value)
        return tuple(value)

    def _shown(self, value: Any) -> str:
        return os.pathsep.join(value)

    def expected(self) -> str:
        return f'the paths of folders, with "{os.pathsep}" between them'


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value and len(value) <= _MAX_PATH


@dataclass(frozen=True, kw_only=True)
class TextParam(Param):
    """One line of text: a name, an address.

    Attributes:
        pattern: Regular expression that the whole text matches.
        allowed: The same in words.
        max_length: Longest text, in characters.
    """

    pattern: str = ".*"
    allowed: str = "a line of text"
    max_length: int = 255
    kind: ClassVar[str] = "text"

    def check(self, value: Any) -> str:
        is_text = isinstance(value, str) and len(value) <= self.max_length and value.isprintable()
        if not is_text or re.fullmatch(self.pattern, value) is None:
            raise self._refuse(value)
        return str(value)

    def expected(self) -> str:
        return self.allowed


def defaults(params: tuple[Param, ...]) -> dict[str, Any]:
    """The default value of each parameter, by key."""
    return {param.key: param.default for param in params}


def check_all(params: tuple[Param, ...], values: Params) -> tuple[dict[str, Any], list[ParamError]]:
    """Checks every value and collects what is wrong.

    Returns:
        The canonical values (defaults where missing or wrong) and the errors found.
    """
    checked: dict[str, Any] = {}
    errors: list[ParamError] = []
    for param in params:
        try:
            value = values.get(param.key, param.default)
            checked[param.key] = param.check(value)
        except ParamError as error:
            checked[param.key] = param.default
            errors.append(error)
    known = {param.key for param in params}
    errors.extend(_unknown(key, sorted(known)) for key in values if key not in known)
    return checked, errors


def _unknown(key: str, known: list[str]) -> ParamError:
    return ParamError(
        f'There is no parameter "{key}".',
        where=key,
        received=key,
        expected="one of " + ", ".join(known) if known else "no parameters",
        fix="Remove it, or correct the name.",
    )


# param text ----------------------------------------------------------------------------------
# Values of parameters as they are typed on a command line: 0.1, yes, 3x3, cosine.

# arithmetic ----------------------------------------------------------------------------------
# Numbers as people type them: 0.001, 1e-3, 10,000, 64*2, (128-32)/2, 1/255.
#
# Only numbers, + - * / and parentheses count: nothing that is typed is ever run.

_MOST_LETTERS = 100
"""More is no number: it also bounds how deeply parentheses are nested."""
_GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:[,\u00a0\u2009\u202f ]\d{3})+(?![\d,])")
_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?|([-+*/()]))", re.ASCII)
_SIGNS = str.maketrans("×·÷−", "**/-")

_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def evaluate(text: str, *, is_whole: bool = False) -> int | float:
    """The number that a text means; computed exactly, so that 0.1 * 3 is 0.3.

    Args:
        text: A number, or numbers to be computed with. A comma separates thousands; where it
            cannot, it is a decimal comma.
        is_whole: For a field of whole numbers: an exponent and a decimal comma are rejected.

    Returns:
        An int where the result is whole.

    Raises:
        ParamError: not a number, or division by zero.
    """
    try:
        source, numbers = _to_source(text.translate(_SIGNS), is_whole=is_whole)
        result = _value(ast.parse(source, mode="eval").body, numbers)
        rounded = float(result)
        return int(result) if result.denominator == 1 else rounded
    except (ValueError, SyntaxError, ArithmeticError, RecursionError, MemoryError):
        raise ParamError(
            "This is not a number.",
            received=text,
            expected="a number, or numbers with + - * / and parentheses",
        ) from None


def _to_source(text: str, *, is_whole: bool) -> tuple[str, dict[str, Fraction]]:
    """The text with a name in place of each number, and the numbers; raises ValueError."""
    if len(text) > _MOST_LETTERS:
        raise ValueError
    plain = _GROUPED.sub(lambda match: re.sub(r"\D", "", match[0]), text.strip().lower())
    if not is_whole:
        plain = re.sub(r"(?<=\d),(?=\d)|^,(?=\d)", ".", plain)
    tokens: list[str] = []
    numbers: dict[str, Fraction] = {}
    position = 0
    while position < len(plain):
        match = _TOKEN.match(plain, position)
        if match is None or (is_whole and match[2]):
            raise ValueError
        if match[1]:
            name = f"n{len(numbers)}"
            numbers[name] = Fraction(match[1] + (match[2] or ""))
        tokens.append(match[3] or name)
        position = match.end()
    return " ".join(tokens), numbers


def _value(node: ast.expr, numbers: Mapping[str, Fraction]) -> Fraction:
    if isinstance(node, ast.Name):
        return numbers[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand, numbers)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        both = _value(node.left, numbers), _value(node.right, numbers)
        return _OPERATORS[type(node.op)](*both)
    raise ValueError


# param text ----------------------------------------------------------------------------------


def read_value(param: Param, text: str) -> Any:
    """The value that a text gives a parameter. One that may be left open is by "none", by no text,
    and by the word for it that its form shows, such as "off".

    A path is made absolute: what uses it may run in another folder.

    Raises:
        ParamError: the value is not allowed.
    """
    text = text.strip()
    if isinstance(param, IntParam | FloatParam) and text.lower() in _open_texts(param):
        return None
    return param.check(_READ.get(param.kind, str)(text))


def _open_texts(param: IntParam | FloatParam) -> set[str]:
    """What leaves a number open."""
    return {"", param.none_text.lower()} if param.is_optional else set()


def _typed_number(text: str) -> float | str | None:
    if text.lower() in {"none", "automatic"}:
        return None
    try:
        return float(text)
    except ValueError:
        return text  # refused by the parameter, in its words


def _truth(text: str) -> bool | str:
    return {"yes": True, "true": True, "no": False, "false": False}.get(text.lower(), text)


def _numbers(text: str) -> tuple[int, ...] | str:
    parts = [part for part in re.split(r"[\s,x×]+", text.strip("()[] ")) if part]
    try:
        return tuple(int(part) for part in parts)
    except ValueError:
        return text


def _size(text: str) -> tuple[int, ...] | int | str:
    numbers = _numbers(text)
    return numbers[0] if isinstance(numbers, tuple) and len(numbers) == 1 else numbers


def _path(text: str) -> str:
    return os.path.abspath(os.path.expanduser(text)) if text else ""  # noqa: PTH100, PTH111 - text, no I/O


def _paths(text: str) -> tuple[str, ...]:
    return tuple(map(_path, filter(None, text.split(os.pathsep))))


_READ: Mapping[str, Callable[[str], Any]] = {
    "int": _typed_number,
    "float": _typed_number,
    "bool": _truth,
    "size": _size,
    "shape": _numbers,
    "path": _path,
    "paths": _paths,
}
