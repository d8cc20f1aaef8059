"""Which learning rate to train with: a sweep finds where to begin, short trainings decide.

Leslie Smith's range test ("Cyclical Learning Rates for Training Neural Networks", WACV 2017)
alone misleads: normalized networks train best far above the rate where a rising one first makes
the loss climb, others far below the end of a second valley. So only its first descent is used, as
one of two places where short trainings from the same start begin to look.
"""
