"""Opening, saving and starting projects."""
