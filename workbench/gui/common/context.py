"""What every view is handed: no view reaches for a global."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.client.run_library import RunLibrary
from workbench.client.service_process import ServiceProcess
from workbench.core.registry import Registry
from workbench.core.specs import DatasetSpec, LayerSpec, TargetSpec
from workbench.document.project_document import ProjectDocument
from workbench.gui.common.open_findings import OpenFindings
from workbench.gui.common.run_estimator import RunEstimator
from workbench.gui.common.weights_loader import WeightsLoader
from workbench.gui.kit.theme import Theme
from workbench.settings.store import SettingsStore


@dataclass(frozen=True)
class WindowContext:
    """The parts of the application that views work with.

    Attributes:
        document: The project being edited.
        library: The runs on this computer, and the ones being followed.
        service: The worker that classifies, evaluates and describes data.
        measurer: Another such worker, for what takes long: finding rates and batch sizes.
        weights: Makes runs of weights files.
        estimator: What the next run of the document will take.
        findings: How many findings of the data check are open.
        theme: Colors, icons, fonts; emits a signal when they change.
        settings: What the user chose for the application.
    """

    document: ProjectDocument
    library: RunLibrary
    service: ServiceProcess
    measurer: ServiceProcess
    weights: WeightsLoader
    estimator: RunEstimator
    findings: OpenFindings
    theme: Theme
    settings: SettingsStore
    layers: Registry[LayerSpec]
    datasets: Registry[DatasetSpec]
    targets: Registry[TargetSpec]
