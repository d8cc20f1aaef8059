"""The fields of a training recipe, one file for each section of its form.

A field declared here appears in the form, in `--set KEY=VALUE` and in the project file. Optimizers,
schedules and losses list the fields that they need in `uses`.
"""
