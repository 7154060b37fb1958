"""What executors of a cluster run without an installation: an archive with kafkaproof and its libraries."""
