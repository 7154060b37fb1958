"""UpdateMetadata: what brokers are told of leaders and live brokers, and tell clients."""
