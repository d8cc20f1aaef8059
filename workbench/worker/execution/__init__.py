"""How a training is executed on this target: compilation and autotuning."""
