"""A document with the real layers."""

from __future__ import annotations

import pytest

from workbench.datasets import all_datasets
from workbench.document.project_document import ProjectDocument
from workbench.layers import all_layers


@pytest.fixture
def document(qapp):
    document = ProjectDocument(all_layers(), datasets=all_datasets())
    yield document
    document.close()
