"""One check from start to verdict: explored, decided, and told."""
