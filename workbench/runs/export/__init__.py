"""A run's curves and figures for other programs: tables and TensorBoard's scalars.

CSV, and Parquet where pyarrow is installed. A table that grows for hours can be continued after a
kill. `proof_rows` makes the table of how exports compare with their model, for window and terminal.
"""
