"""How a training is executed on this target: compilation and autotuning.

A few variants (precision, XLA) of this network are benchmarked on this machine within a budget of
seconds (`search`), and the answer is cached. A network begins with the answer of a similar one
(`read_similar`); only what was close there is benchmarked again. The benchmark leaves no trace: the
network is put back to its start bit for bit.

While a project is open, a fork of the ready trainer benchmarks its network ahead
(`BenchmarkAhead`), so that nothing of that is left in the process that trains.
"""
