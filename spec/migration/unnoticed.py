"""Changes of the migration that go unnoticed, and transitions that a variant takes at no recorded scope."""

EQUIVALENT: dict[tuple[str, str], str] = {}
UNNOTICED: dict[tuple[str, str], str] = {}
NEVER_TAKEN = {"deletions-copied": {"writing.clear_deletions": "Up to 3.6.0 no driver reads /admin/delete_topics."}}
"""By variant: a transition, and why no recorded scope has it."""
