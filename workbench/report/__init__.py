"""The report of a run: what is in its folder as a document, and that as one HTML file or one PDF.

A report is a value (`Document` of `blocks`). `read_facts` reads the folder, `sections` make blocks
of what is known, `page` writes HTML; the PDF is painted by `workbench.printing`, in a process of
its own. `Markup` is made in one module alone, which escapes all text. Qt-free, TensorFlow-free.
"""
