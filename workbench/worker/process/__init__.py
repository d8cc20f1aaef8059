"""What every worker process needs: late import of Keras, stop requests, event log, failures.

A worker or trainer has a folder of its own for temporary files, its own and its libraries'
(`SessionFolder`); one that a killed worker has left is removed by the next. What TensorFlow, NumPy
and the system raise is translated into the error tree (`error_parts`).
"""
