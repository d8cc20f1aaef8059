"""The environment variables of a trainer's process, and the way back to the user's own."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import workbench
from workbench.core.params import Params, check_all
from workbench.core.projects.project import Choice, Project
from workbench.core.specs import TargetSpec
from workbench.errors import RunError
from workbench.parts import TRAIN
from workbench.targets import all_targets

OUTER_VARIABLE = "WORKBENCH_OUTER_ENV"
"""JSON: what a trainer's own variables were before it, null where there was none. A trainer
that starts the next one gives it the user's environment, not its own."""


def target_environment(target: Choice) -> dict[str, str]:
    """The variables that a target needs set before TensorFlow starts; as `known_target`."""
    spec, params = known_target(target)
    return dict(spec.environment(params))


def is_remote(target: Choice) -> bool:
    """Whether a target is another computer, with a run mirror for the trainer; as
    `known_target`.
    """
    spec, params = known_target(target)
    return spec.is_remote(params)


def known_target(target: Choice) -> tuple[TargetSpec, Params]:
    """A target and its checked values; raises RunError if unknown, ParamError for a value."""
    targets = all_targets()
    spec = targets.get(target.key)
    if spec is None:
        raise RunError(
            "The target of the project is unknown to this version.",
            where="target",
            received=target.key,
            expected=", ".join(targets),
            fix="Choose another target.",
        )
    params, errors = check_all(spec.params, target.params)
    if errors:
        raise errors[0]
    return spec, params


def refuse_without_parts(target: Choice) -> None:
    """Raises MissingPartError where a trainer would be a process here and has no TensorFlow."""
    if not is_remote(target):
        TRAIN.require()


def refuse_unready(target: Choice) -> None:
    """Raises what is wrong with a target, before anything is started there.

    May take seconds, and never more than the target's own deadlines.
    """
    refuse_without_parts(target)
    spec, params = known_target(target)
    problem = spec.probe(params)
    if problem is not None:
        raise problem


def project_environment(project: Project) -> dict[str, str]:
    """The variables that a project requires before TensorFlow starts; as `known_target`."""
    variables = target_environment(project.target)
    if project.recipe.threads:
        # Read once, when TensorFlow makes its pool: later calls come too late.
        variables["TF_NUM_INTRAOP_THREADS"] = str(project.recipe.threads)
    return variables


def trainer_environment(
    project: Project, more: Mapping[str, str], outer: Mapping[str, str] | None = None
) -> dict[str, str]:
    """All variables of a trainer: the user's, the project's, and the way to our own package.

    Args:
        project: What is to be trained; errors as of `known_target`.
        more: Further variables for this trainer alone.
        outer: The variables of the process that starts it; its own where None.
    """
    users = users_environment(dict(os.environ if outer is None else outer))
    package_home = str(Path(workbench.__file__).resolve().parent.parent)
    path = users.get("PYTHONPATH", "")
    own = {
        **project_environment(project),
        "PYTHONPATH": os.pathsep.join(part for part in (package_home, path) if part),
        "PYTHONUNBUFFERED": "1",
        **more,
    }
    # TMPDIR: of a trainer it names a folder that goes with it (`worker.process.setup`).
    before = {name: users.get(name) for name in (*own, "TMPDIR")}
    return {**users, **own, OUTER_VARIABLE: json.dumps(before)}


def users_environment(variables: dict[str, str]) -> dict[str, str]:
    """The variables without what a trainer has set for itself; for others the same."""
    before = variables.get(OUTER_VARIABLE)
    if before is None:
        return variables
    result = {name: value for name, value in variables.items() if name != OUTER_VARIABLE}
    for name, value in json.loads(before).items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = value
    return result
