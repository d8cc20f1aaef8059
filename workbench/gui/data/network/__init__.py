"""Which network is trained on the project's images: shown, and chosen."""
