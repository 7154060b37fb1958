"""What happened in the course of a log, as one would tell it after an incident."""
