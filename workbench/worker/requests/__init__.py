"""What the service worker answers: one file per request."""
