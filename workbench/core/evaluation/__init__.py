"""Statistics of an evaluation: intervals of shares and top-k accuracy. Arrays and numbers alone."""
