"""Typed settings and where they are kept."""
