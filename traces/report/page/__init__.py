"""The report of a replay as one self-contained HTML page: what happened on a time axis, and the records behind it."""
