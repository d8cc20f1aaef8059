"""The training coach as values: what is known of a run, what a rule sees in it, what to try.

Qt-free; no file is read here. The rules are plug-ins (`workbench.coach`).
"""
