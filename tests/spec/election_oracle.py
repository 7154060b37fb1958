"""The election strategies once more, with lists: what the specification is held to.

Brokers are ints; `ar`, `isr` and `target` are lists in their stored order, all other inputs are sets. A
strategy gives (leader, new ISR, recipients), the removal (leader, new ISR); None where nothing is written.
"""


def new_topic(ar, online):
    """All online replicas, the first of them leads."""
    live = [r for r in ar if r in online]
    return (live[0], live, live) if live else None


def offline(ar, isr, online, allowed):
    """The first online member of the ISR, else, when allowed and none is online, the first online replica."""
    recipients = [r for r in ar if r in online]
    live_isr = [r for r in isr if r in online]
    for replica in ar:
        if replica in live_isr:
            return replica, live_isr, recipients
    if allowed and not live_isr and recipients:
        return recipients[0], recipients[:1], recipients
    return None


def reassign(target, isr, online):
    """The first replica of the target that is online and in the ISR."""
    candidates = [r for r in target if r in online and r in isr]
    return (candidates[0], isr, target) if candidates else None


def preferred(ar, isr, online):
    """The first replica or nobody."""
    return (ar[0], isr, ar) if ar and ar[0] in online and ar[0] in isr else None


def controlled_shutdown(ar, isr, online_or_leaving, leaving):
    """The first member of the ISR that stays."""
    candidates = [r for r in ar if r in online_or_leaving and r in isr and r not in leaving]
    if not candidates:
        return None
    return candidates[0], [r for r in isr if r not in leaving], [r for r in ar if r in online_or_leaving]


def remove_from_isr(leader, isr, replica):
    """A replica goes offline; the last member stays in the ISR."""
    if replica not in isr:
        return None
    return (-1 if leader == replica else leader), (isr if len(isr) == 1 else [r for r in isr if r != replica])


def offline_by_isr_order(ar, isr, online):
    """0.8.0: the first online member of the ISR as it is stored, else the first online replica."""
    return next((r for r in isr + ar if r in online), -1)
