"""What replay says of a log, of groups, and of traffic as a whole."""

CONFORMS, DIVERGES, UNDECIDED, BAD_INPUT = "conforms", "diverges", "undecided", "bad-input"
WORST_FIRST = (BAD_INPUT, DIVERGES, UNDECIDED, CONFORMS)
