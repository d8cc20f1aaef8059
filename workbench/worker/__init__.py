"""The only package that imports tensorflow and keras; no Qt.

`python -m workbench.worker` is a trainer, a service worker or a helper of theirs. It is started as
a process and never imported by the rest of the program. TensorFlow is imported late, so that first
events and answers do not wait for it.

The service worker works on one request at a time; only pictures from the web are downloaded beside
it. Every request ends in a final answer or in `Failed`, and a cancel takes effect while another
request runs.
"""
