"""The messages between processes: frozen values, one JSON line each.

Requests to a service worker, its answers, and the events of a run's log (`events`). What a kind of
message is, and what a request is answered, is said by its class alone (`bases`); `wire` finds it in
this folder. Both sides check the kind, the types and the length of each line. Each request has
exactly one final answer. An error crosses processes as `ErrorParts` and is rebuilt as the same
class of the tree in `workbench.errors`. Images and large arrays are files that a message names.
"""
