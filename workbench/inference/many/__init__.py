"""Classifying folders of any size: images decoded ahead in threads, classified in batches."""

from __future__ import annotations

from workbench.inference.many.handler import classify_many as classify_many
