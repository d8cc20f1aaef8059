"""Targets: choosing, connecting, preflight, parity, notebooks.

An address that came with a file is contacted only after the user has confirmed it
(`workbench.runs.trust`).
"""
