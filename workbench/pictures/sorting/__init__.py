"""Images copied or moved into a folder for each class: planned first, then done, then undone.

    plan = make_plan(answers, Path("sorted"))      # changes nothing
    done = carry_out(plan, is_move=True, sealer=undo_key)   # an undo file beside the class folders
    undo(read_undo(done.undo_file, sealer=undo_key))

The one place for this, for window and terminal. A file that is there already is never replaced, and
a file that was changed meanwhile is never moved or deleted. What is done is in the undo file before
it is done. The file is sealed with the user's key (`runs.trust.undo_key`), as it decides what is
written where; one without a valid seal is followed for pictures alone (`foreign`).
"""

from __future__ import annotations

from workbench.pictures.sorting.carry_out import Sorted as Sorted
from workbench.pictures.sorting.carry_out import carry_out as carry_out
from workbench.pictures.sorting.plan import Plan as Plan
from workbench.pictures.sorting.plan import make_plan as make_plan
from workbench.pictures.sorting.undo import Undo as Undo
from workbench.pictures.sorting.undo import Undone as Undone
from workbench.pictures.sorting.undo import read_undo as read_undo
from workbench.pictures.sorting.undo import undo as undo
