"""Traffic between brokers, controllers and clients: read from record files and packet captures, and held to the specification."""
