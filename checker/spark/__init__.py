"""Exploring on Spark: the cluster, the work of each partition in a level, and routing of states to their owners."""
