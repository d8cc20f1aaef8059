"""A registry is what one plug-in folder holds: key -> SPEC, found by walking the folder."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Generic, Protocol, Self, TypeVar

from workbench.errors import RegistryError


class HasKey(Protocol):
    """Anything with a key: what a plug-in file's SPEC must be."""

    @property
    def key(self) -> str: ...


S = TypeVar("S", bound=HasKey)


class Registry(Mapping[str, S], Generic[S]):
    """The specs of one folder by key, in order of `order`, where they have one, and then key.
    Immutable.
    """

    def __init__(self, specs: Mapping[str, S]) -> None:
        self._specs = dict(specs)

    @classmethod
    def from_package(cls, package: str, spec_type: type[S]) -> Self:
        """Imports every module of `package` whose name has no leading underscore.

        Specs of a few lines may be together in SPECS of the package itself.

        Raises:
            RegistryError: a module without SPEC, of the wrong type, or whose key is not
                its file name, or is that of another one.
        """
        folder = importlib.import_module(package)
        specs: dict[str, S] = {spec.key: spec for spec in getattr(folder, "SPECS", ())}
        for info in sorted(pkgutil.iter_modules(folder.__path__), key=lambda info: info.name):
            if info.name.startswith("_"):
                continue
            module = importlib.import_module(f"{package}.{info.name}")
            spec = getattr(module, "SPEC", None)
            if not isinstance(spec, spec_type):
                raise RegistryError(
                    f"{module.__name__} declares no {spec_type.__name__}.",
                    where=module.__name__,
                    received=type(spec).__name__,
                    expected=f"SPEC = {spec_type.__name__}(...)",
                )
            if spec.key in specs or spec.key != info.name:
                raise RegistryError(
                    "A plug-in file is named by its key, which no other has.",
                    where=module.__name__,
                    received=spec.key,
                    expected=info.name,
                )
            specs[spec.key] = spec
        return cls(dict(sorted(specs.items(), key=lambda item: getattr(item[1], "order", 0))))

    def __getitem__(self, key: str) -> S:
        return self._specs[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)

    def near(self, key: str) -> list[str]:
        """Up to three known keys that look like `key`, for "did you mean" messages."""
        return difflib.get_close_matches(key.lower(), list(self._specs), n=3, cutoff=0.6)
