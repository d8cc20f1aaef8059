"""Why a picture got its class: a heat map over it, and the check of the map."""
