"""The report of a run: what is in its folder as a document, and that as one HTML file or one PDF.

`facts` reads the folder, `sections` make blocks of what is known, `page` writes HTML; the PDF is
painted by `workbench.printing`, in a process of its own. Qt-free, TensorFlow-free.
"""
