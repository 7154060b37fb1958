"""What earlier releases did differently with idempotent producers."""
