"""What a field of a recipe declares beside its type and its default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from workbench.core.format import list_text
from workbench.core.params import Param
from workbench.core.training.losses import all_losses
from workbench.core.training.optimizers import all_optimizers
from workbench.core.training.schedules import all_schedules
from workbench.core.training.specs import TrainingSpec
from workbench.errors import RegistryError

T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """The parameter that a field is in forms and files, see `setting`."""

    kind: type[Param]
    help: str
    options: Mapping[str, Any]
    place: int
    used_if: Callable[[Any], bool] | None

    def param(self, key: str, default: Any, group: str) -> Param:
        """The parameter; its help names the plug-ins that have it."""
        options = {**self.options, "help": self.help}
        users = [spec.text for specs in PLUG_INS for spec in specs.values() if key in spec.uses]
        if users:
            options["help"] = f"For {list_text(users)}: {self.help}"
        if default is None:
            options["is_optional"] = True
        return self.kind(key=key, default=default, group=group, **options)


def setting(
    kind: type[Param],
    default: T,
    words: str,
    *,
    place: int = 0,
    used_if: Callable[[Any], bool] | None = None,
    **options: Any,
) -> T:
    """Declares a field of a recipe; it may be left open where its default is None.

    Args:
        kind: Class of the parameter. Its key is the field's name, its group the `SECTION` of the
            class that declares the field.
        default: Value where none is given.
        words: Its help.
        place: Position in a project file, from 1, of a field that is always written; 0 for one
            that is written only where it is not its default.
        used_if: Recipe -> whether the value changes anything. Where it is None, that is always
            so, or with the plug-ins that have the field in their `uses`.
        options: Other arguments of `kind`.
    """
    metadata = {"setting": Setting(kind, words, options, place, used_if)}
    return field(default=default, metadata=metadata)


def choices(specs: Mapping[str, TrainingSpec]) -> dict[str, Any]:
    """Arguments of a ChoiceParam that chooses one of these plug-ins."""
    return {"choices": tuple(specs), "titles": {key: spec.title for key, spec in specs.items()}}


def declared(*sections: Any) -> dict[str, tuple[Setting, Param]]:
    """Setting and parameter of each field of these classes, in the order of the form.

    Raises:
        RegistryError: A plug-in uses a field that there is not.
    """
    found: dict[str, tuple[Setting, Param]] = {}
    for section in sections:
        for item in fields(section):
            about: Setting = item.metadata["setting"]
            found[item.name] = about, about.param(item.name, item.default, section.SECTION)
    for spec in (spec for specs in PLUG_INS for spec in specs.values()):
        if unknown := set(spec.uses) - set(found):
            raise RegistryError(
                f"{spec.title} uses a parameter that a recipe does not have.",
                where=spec.key,
                received=", ".join(sorted(unknown)),
                expected="fields of TrainingRecipe",
            )
    return found


PLUG_INS: tuple[Mapping[str, TrainingSpec], ...] = (all_optimizers(), all_schedules(), all_losses())
