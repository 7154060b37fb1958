"""The scopes of the group system, and what is known of each: the violated properties with the states of the shortest
counterexample.
"""

SIZES = {
    "brokers": "brokers that may coordinate the group",
    "clients": "clients that want to be members",
    "ids": "member ids that may be known at once",
    "generations": "generations of the group",
    "epochs": "leader epochs of the offsets partition: one more than its leader moves",
    "log": "records that the offsets log can hold",
    "appends": "appends to it that are not acknowledged yet",
    "protocols": "protocols that clients may offer",
    "faults": "crashes, requests given up, appends and loads that fail, what operators do: how many in all",
    "topics": "topics that the members of a generation may subscribe to; the first is that of the committed offset",
    "periods": "check intervals and retention periods of offsets that pass",
    "prepared": "records that are prepared and not yet appended (unlocked)",
}
LARGEST = dict(zip(SIZES, (3, 3, 5, 5, 4, 6, 3, 2, 5, 2, 3, 2)))


def scope(brokers, clients, ids, generations, epochs, log, appends=1, protocols=1, faults=0, topics=1, periods=0,
          prepared=0):
    """A scope."""
    sizes = (brokers, clients, ids, generations, epochs, log, appends, protocols, faults, topics, periods, prepared)
    return dict(zip(SIZES, sizes))


UNLOCKED_VERDICTS = ()
CLASSIC_VERDICTS = ()
MIDDLE_VERDICTS = ()
CURRENT_VERDICTS = ()
STATIC_VERDICTS = ()
LIMITED_VERDICTS = ()
TRANSACTIONAL_VERDICTS = ()
