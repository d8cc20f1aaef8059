"""The trainer process: one training from request to last event."""
