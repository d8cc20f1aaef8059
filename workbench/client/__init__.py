"""The window's end of the workers, and its view of the runs. QtCore only: no widgets.

`ServiceProcess` sends requests to a service worker and never blocks. The worker starts with the
first request; when the window is opened with a project, while the window is made. When it dies, the
request under way fails and those behind it go to the next worker. `AnswerLoader` reads the files
that an answer names in a thread, and drops those of an earlier request.

`RunLibrary` holds the runs of the open project and one current run; views follow both.
`RunFollower` reads the current run's event log. `RunDiagnosis` applies the coach's rules in a
thread after an epoch has ended, at most once a second. Whatever touches the disk does so in
another thread.
"""
