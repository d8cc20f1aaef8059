"""One training step and the loop that runs it: loss, optimizer, evaluation."""
