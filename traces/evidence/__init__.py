"""What a log shows before anything is judged: controllers, registrations, every write of each stream."""
