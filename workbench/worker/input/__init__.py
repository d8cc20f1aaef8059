"""The input pipeline: loading, preprocessing, augmentation, mixup, shuffling, sharding, caching.

- The unbroken chain of preprocessing and augmentation layers behind Input runs here
  (`training_pipeline`), the rest in the model; exported models hold both. The Augmentation dialog
  shows what this function gives.
- A batch is a function of (seed, step) alone, which makes a resumed run equal an uninterrupted one.
- `load_source` loads a data set with its edits, from where its files are now: `params_now` applies
  the user's record of moved images here.
- Parts whose images are all of one class are reported as doubtful, for every source
  (`with_part_doubts`).
- `packed_images` packs what a run would train, validate and test on for a program that trains
  elsewhere, named in it by a digest of classes, labels and pixels.
"""
