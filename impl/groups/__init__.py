"""The group coordinator of a broker, and what stands in the offsets partition."""
