"""The data view: where the images come from, what is in them, how they are divided."""

from __future__ import annotations

from workbench.gui.common.view_spec import MakeView, ViewSpec
from workbench.gui.panels import panels_of


def _load() -> MakeView:
    from workbench.gui.data.view import DataView

    return lambda services: DataView(services.context, panels_of("data"))


SPEC = ViewSpec(
    key="data",
    title="Data",
    text="D&ata",
    tip="Choose the data.",
    icon="pictures",
    shortcut="Ctrl+2",
    order=20,
    load=_load,
)
