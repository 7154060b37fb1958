"""One check from start to verdict."""
