"""Series of runs: cross-validation and sweeps, planned and compared.

Here are the dialogs alone. What a series is, what can be swept and what mean and spread come to is
decided in `workbench.runs.library`, for window and terminal.
"""
