"""Targets: choosing, connecting, preflight, parity, notebooks."""
