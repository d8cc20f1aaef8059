"""Images of the model's test set, shown to pick from."""

from __future__ import annotations

from workbench.gui.classify.picture_source import PictureSource, SourceSpec


class TestSet(PictureSource):
    """Shows them, or hides them again."""

    __test__ = False  # for pytest

    def begin(self) -> None:
        state = self.state
        if state.run is not None or state.is_picking:
            state.set_picking(is_picking=not state.is_picking)


SPEC = SourceSpec(
    key="from_test_set",
    text="Test set",
    tip="Shows images of the model's test set to pick from",
    order=30,
    make=TestSet,
    is_button=True,
)
