"""Training on several machines: the chief, the members, and the channel between them.

The chief alone writes events, checkpoints and weights. All machines make the same calls into
TensorFlow, each for its rows of a batch; they agree on the length of each call and on the end. A
machine that joins by a folder trains only what was requested there: its chief can begin nothing
else.
"""
