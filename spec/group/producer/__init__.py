"""The producer of the transactional variant."""
