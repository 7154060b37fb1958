"""A cluster from outside: its processes, faults and chaos, load, and what is seen of it."""
