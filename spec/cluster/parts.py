"""The models that check what `cluster` leaves out, or bounds more tightly."""

PARTS = (
    ("election", "fenced"),
    ("partition", "fenced"),
    ("requests", "current"),
    ("topics", "kip455"),
    ("replica", "current"),
)
