"""The commands of `kafkaproof`; each module adds one."""
