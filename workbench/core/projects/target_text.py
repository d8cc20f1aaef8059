"""TARGET texts: how a place to train is named on the command line and in messages.

this_computer          a target that needs nothing more
virtual:8              a target and its value: the target itself reads and writes it
auto                   the best one of this computer at this moment
"""

from __future__ import annotations

from workbench.core.params import Params, check_all
from workbench.core.projects.project import Choice
from workbench.core.registry import Registry
from workbench.core.specs import TargetLimits, TargetSpec
from workbench.errors import ParamError, UsageError

AUTO = "auto"


def automatic_target(targets: Registry[TargetSpec]) -> tuple[Choice, str]:
    """The best target of this computer, and the reason: what better ones lack."""
    ranked = sorted((spec for spec in targets.values() if spec.rank), key=lambda spec: spec.rank)
    lacks: list[str] = []
    for spec in ranked:
        params = check_all(spec.params, {})[0]
        problem = spec.probe(params)
        if problem is None:
            found = f"{spec.title} ({spec.describe(params)})"
            return Choice(spec.key, params), " ".join([*lacks, f"Training on: {found}."])
        lacks.append(f"{problem.what} {problem.fix}".strip() if spec.is_offered() else problem.what)
    raise UsageError("No target of this computer can be used.", received=" ".join(lacks))


def parse_target(text: str, targets: Registry[TargetSpec]) -> Choice:
    """The target that a TARGET text names, with all its parameters.

    Raises:
        UsageError: no such target, or something behind the colon that it does not take.
    """
    text = text.strip()
    if not text.isprintable():  # it may reach another computer's command line
        raise UsageError(
            "A target name may only contain printable characters.",
            received=repr(text),
            expected="for example this_computer",
        )
    if text == AUTO:
        return automatic_target(targets)[0]
    key, colon, value = text.partition(":")
    spec = targets.get(key)
    if spec is None:
        if (other := target_of_other_form(text, targets)) is not None:
            return other
        raise _unknown(text, key, targets)
    if colon and not value:
        raise UsageError(
            "Nothing follows the colon.",
            where=key,
            received=text,
            expected=spec.form or target_text(Choice(key), targets),
        )
    try:
        return Choice(key, _checked(spec, spec.read(value)))
    except ParamError as error:
        raise UsageError(**error.to_dict()) from error


def target_of_other_form(text: str, targets: Registry[TargetSpec]) -> Choice | None:
    """The target that a text names as other programs and tutorials do; None for any other text.

    Raises:
        UsageError: such a text that names nothing that could be reached.
    """
    for spec in targets.values():
        try:
            if (value := spec.other_form(text)) is not None:
                return Choice(spec.key, _checked(spec, spec.read(value)))
        except ParamError as error:
            raise UsageError(**error.to_dict()) from error
    return None


def target_text(choice: Choice, targets: Registry[TargetSpec]) -> str:
    """The text that `parse_target` makes the same choice of; an unknown target's key."""
    spec = targets.get(choice.key)
    if spec is None:
        return choice.key
    value = spec.write(check_all(spec.params, choice.params)[0])
    return f"{spec.key}:{value}" if value else spec.key


def limits_of(choice: Choice, targets: Registry[TargetSpec]) -> TargetLimits:
    """Limits of training on a chosen target; the defaults for one that is not known."""
    spec = targets.get(choice.key)
    if spec is None:
        return TargetLimits()
    return spec.limits(check_all(spec.params, choice.params)[0])


def _checked(spec: TargetSpec, params: Params) -> Params:
    checked, errors = check_all(spec.params, params)
    if errors:
        raise errors[0]
    return checked


def _unknown(text: str, key: str, targets: Registry[TargetSpec]) -> UsageError:
    near = targets.near(key)
    return UsageError(
        "There is no such target.",
        received=text or "nothing",
        expected="one of " + ", ".join(targets),
        fix=f"Did you mean {' or '.join(near)}?" if near else "`workbench targets` lists them.",
    )
