"""The figures of a report, as drawings."""
