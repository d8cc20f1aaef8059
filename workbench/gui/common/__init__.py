"""What several features of the window share."""
