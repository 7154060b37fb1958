"""Kafka's wire protocol as `impl` and `traces` both read it: frames, what they say, and files of frames. Needs kio."""
