"""What the meaning of the data was inferred from, where that may be wrong."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.data_check.findings import Action, DataCheckSpec, Finding, Survey, new_finding
from workbench.core.specs import Inference


def _find(survey: Survey) -> Iterator[Finding]:
    for inference in survey.inferences:
        if inference.is_doubtful:
            yield new_finding(
                SPEC.key,
                "warning",
                f"{inference.what}: {inference.value}",
                inference.sentence,
                actions=_actions(inference),
                about=f"{inference.key} {inference.value}",
            )


def _actions(inference: Inference) -> Iterator[Action]:
    for number, option in enumerate(inference.options, start=1):
        change = {inference.param: option.value}
        yield Action(f"use_{number}", f"Use {option.title}", dataset=change)


SPEC = DataCheckSpec(key="doubtful_reading", title="Doubtful readings", order=5, find=_find)
