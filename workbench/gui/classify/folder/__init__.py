"""A folder classified in the window: the job, its rows in columns, and the table of them."""
