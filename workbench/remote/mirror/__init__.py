"""The run mirror: a process that follows a run on another computer."""
