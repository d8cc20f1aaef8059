"""The window: the only package with QtWidgets.

kit                   widgets, theme and dialogs that know nothing of the product
plots, forms, tables  drawing curves, forms made from parameters, tables of figures
common, images        what several features share
design, data, train, evaluate, classify, targets, files, help    the features
panels, views         plug-in files that register the features' panels and views
shell                 the main window

Imports go down in this list; features never import each other. TensorFlow is never imported and no
foreign file decoded here: both happen in workers. Nothing blocks the event loop for more than 10
ms, except loading the code of a view. Opening, listing and drawing touch no network.
"""
