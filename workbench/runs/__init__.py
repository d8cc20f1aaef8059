"""A run on disk: request, event log, control, lock, weights. No Qt, no TensorFlow: the window
and the command line use the same code, and a run is followed the same way in both.

log      the event log, and what is computed from it
store    what a run keeps beside its log
state    running, queued, remote, finished, crashed; queue, resuming, estimates
library  all runs together: list, comparison, series
export   tables and TensorBoard's scalars

- `RunFolder` lists the files of a run. The request is written once and never changed; more epochs
  are in a file beside it (`Extensions`).
- A trainer is alive while it holds its run's lock (`folder`); process id and silence mean
  nothing.
- A run belongs to a project by the project's id. Its name (number, and what differs) is made in
  `naming` alone, as are the words for the differences of two networks.
- A run behind a link is only read (`home`).
- `control` also keeps who has requested a stop, for a terminal that follows the run.
- A folder may come from elsewhere. An address in it is contacted only after the user has confirmed
  it (`places`; one question names all of them). A queued run starts by itself only where it was
  queued here, and machines that it names count only where they carry the seal of the user's key
  (`seal`).
- Where images are that have moved is a record of this user (`moved_data`). Nothing that a run
  folder or bundle says adds to it.
- Opening, listing and drawing runs touch no network.
- `ReadyTrainer` is a process that has imported TensorFlow and waits. It gets the next run if it
  equals a trainer started for that run (variables, folder, priority); until then it ends with the
  window.
"""
