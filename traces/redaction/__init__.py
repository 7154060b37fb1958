"""Names of a cluster's own, replaced by pseudonyms where its logs are read, so that nothing behind that sees them."""

from kafkaproof.traces.redaction.redactor import Redactor

__all__ = ["Redactor"]
