"""What a run keeps on disk beside its log: checkpoints, weights, notes."""
