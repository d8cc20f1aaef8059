"""Runs that are made with `--run DIR`."""

from __future__ import annotations

from workbench.cli._output import report_error
from workbench.errors import SaveError
from workbench.runs.folder import RunFolder
from workbench.runs.state.outside import remember_outside


def keep_listed(run: RunFolder) -> None:
    """Lets `workbench runs` list a run outside of the runs folder; it is there all the same where
    that cannot be kept.
    """
    try:
        remember_outside(run)
    except SaveError as error:
        report_error(error, as_json=False)  # on stderr
