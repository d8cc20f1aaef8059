"""The training coach as values: what is known of a run, what a rule sees in it, what to try.

Qt-free; no file is read here. The rules are plug-ins (`workbench.coach`): functions of a
`RunRecord`. A suggested change makes another project, as any edit does, and never touches the run
in which it was seen.
"""
