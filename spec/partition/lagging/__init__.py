"""Controllers whose ZooKeeper server lags: what they read of registrations and states may be old."""
