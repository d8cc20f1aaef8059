"""Series of runs: cross-validation and sweeps, planned and compared."""
