"""The data check in the data view: its findings, what they show, and what is done about them."""
