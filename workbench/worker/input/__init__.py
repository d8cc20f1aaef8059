"""The input pipeline: shuffling, augmentation, mixup, sharding, caching."""
