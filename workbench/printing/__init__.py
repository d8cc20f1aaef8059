"""Painting a report as a PDF with Qt: `python -m workbench.printing` reads the document as JSON
from stdin and writes the file to stdout.

A process of its own: command line and service import no Qt.
"""
