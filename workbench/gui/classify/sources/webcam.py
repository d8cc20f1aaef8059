"""A webcam, with the answers following its picture."""

from __future__ import annotations

from workbench.errors import UsageError
from workbench.gui.classify.picture_source import PictureSource, SourceSpec
from workbench.gui.classify.webcam import WebcamDialog, cameras, multimedia, webcam_reason
from workbench.gui.kit.dialogs import install_part
from workbench.parts import part_to_install


class Webcam(PictureSource):
    """Opens its window, or brings it to the front."""

    dialog: WebcamDialog | None = None

    def reason(self) -> str:
        return webcam_reason()

    def begin(self) -> None:
        if self.dialog is not None:
            self.dialog.raise_()
            self.dialog.activateWindow()
            return
        found = cameras()
        if not found:
            self._refuse(self.reason())
            return
        self.dialog = WebcamDialog(self.state, multimedia(), found, self.owner.window())
        self.dialog.destroyed.connect(self._forget)
        self.dialog.show()

    def _refuse(self, reason: str) -> None:
        part = part_to_install(reason)
        if part is None:
            self.state.failed.emit(UsageError(reason))
        else:
            install_part(part, self.owner).installed.connect(self.begin)

    def _forget(self) -> None:
        self.dialog = None


SPEC = SourceSpec(
    key="webcam",
    text="Webcam…",
    tip="Classifies what a camera shows, live; a frame can be kept",
    order=70,
    make=Webcam,
)
