"""A view: words of the field."""

from __future__ import annotations

from workbench.gui.common.view_spec import MakeView, ViewSpec


def _load() -> MakeView:
    from workbench.gui.kit.labels import plain_label

    return lambda services: plain_label("Epoch: one pass over the training pictures.")


SPEC = ViewSpec(
    key="glossary",
    title="Glossary",
    text="&Glossary",
    tip="Words of the field.",
    icon="help",
    shortcut="Ctrl+6",
    order=60,
    load=_load,
)
