"""What every worker process needs: late import of Keras, stop requests, event log, failures."""
