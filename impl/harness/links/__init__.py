"""Links between processes: proxies that know what passes, and hold it, delay it or lose it."""
