"""SOURCE texts: how a data set is named on the command line and in messages.

fashion_mnist                              a source that needs nothing more
folder:../flowers                          a source and what it is pointed at
csv:list.csv?label=breed&split=            and how it is read: values of its parameters
"""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import unquote

from workbench.core.param_text import read_value
from workbench.core.params import defaults
from workbench.core.projects.project import Choice
from workbench.core.registry import Registry
from workbench.core.specs import DatasetSpec
from workbench.errors import ParamError, UsageError


def parse_source(text: str, datasets: Registry[DatasetSpec]) -> Choice:
    """The data set that a SOURCE text names, with all its parameters.

    A path is made absolute: the trainer may have another working folder. An address is kept.

    Raises:
        UsageError: no such source, a missing value, or one it does not take.
    """
    key, colon, value = text.strip().partition(":")
    spec = datasets.get(key)
    if spec is None:
        raise _unknown(text, key, datasets)
    if not spec.source_param:
        if colon:
            raise UsageError(
                f'The source "{key}" takes no value after a colon.', received=text, expected=key
            )
        return Choice(key, defaults(spec.params))
    if not value:
        raise UsageError(
            f'The source "{key}" needs a value.',
            received=text,
            expected=_form(spec),
            fix=f'For example "{key}:../my_data".',
        )
    value, settings = split_settings(spec, value)
    choice = source_choice(spec, _checked(spec, spec.source_param, value))
    told = {key: _checked(spec, key, text) for key, text in settings.items()}
    return Choice(choice.key, {**choice.params, **told})


def split_settings(spec: DatasetSpec, value: str) -> tuple[str, dict[str, str]]:
    """What a source is pointed at, and the values of parameters behind a question mark.

    A question mark before anything else than KEY=VALUE of known parameters belongs to the path. In
    a value, %26 is an ampersand.
    """
    return split_keys(value, {param.key for param in spec.params} - {spec.source_param})


def split_keys(value: str, keys: Collection[str]) -> tuple[str, dict[str, str]]:
    """A path, and the values of some keys behind a question mark; see `split_settings`."""
    path, mark, rest = value.rpartition("?")
    pairs = [text.partition("=") for text in rest.split("&")] if mark else []
    if not pairs or not path or not all(sign and key in keys for key, sign, _ in pairs):
        return value, {}
    return path, {key: unquote(text) for key, _, text in pairs}


def source_choice(spec: DatasetSpec, value: object) -> Choice:
    """A data set that is pointed at a checked value; all else is the default."""
    return Choice(spec.key, {**defaults(spec.params), spec.source_param: value})


def source_forms(datasets: Registry[DatasetSpec]) -> list[str]:
    """How each data set is written: "cifar10", "folder:PATH"."""
    return [_form(spec) for spec in datasets.values()]


def _form(spec: DatasetSpec) -> str:
    return f"{spec.key}:{spec.source_param.upper()}" if spec.source_param else spec.key


def _checked(spec: DatasetSpec, key: str, value: str) -> object:
    param = next(param for param in spec.params if param.key == key)
    try:
        checked: object = read_value(param, value) if "://" not in value else param.check(value)
    except ParamError as error:
        raise UsageError(
            error.what, where=spec.key, received=error.received, expected=error.expected
        ) from error
    return checked


def _unknown(text: str, key: str, datasets: Registry[DatasetSpec]) -> UsageError:
    fix = ""
    if near := datasets.near(key):
        fix = f"Did you mean {' or '.join(near)}?"
    elif any(mark in text for mark in "/\\.~"):
        fix = f'A folder of images is written "folder:{text}", a NumPy file "npz:{text}".'
    return UsageError(
        "There is no such data set.",
        received=text or "nothing",
        expected="one of " + ", ".join(source_forms(datasets)),
        fix=fix,
    )
