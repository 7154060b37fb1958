"""Which brokers get the replicas of a new topic: pure functions, not part of a transition.

`start` and `shift` are the choices that Kafka makes at random; here they are arguments. Brokers are ids in Kafka's
order: sorted, or alternating by rack.

Source: kafka.admin.AdminUtils.assignReplicasToBrokers, 0.8 to 3.9 (with racks, KIP-36: 0.10.0 to 3.9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def assign_replicas(brokers: Sequence[int], partitions: int, replicas: int, start: int, shift: int) -> list[list[int]]:
    """The replicas of each partition, the preferred one first; raises ValueError for impossible sizes.

    The first replicas go round-robin over the brokers; the followers of a partition go round-robin over the others, and
    start one broker farther after each round.
    """
    _check(len(brokers), partitions, replicas)
    n = len(brokers)
    assignment = []
    for i in range(partitions):
        first, farther = (start + i) % n, shift + i // n
        followers = [brokers[_follower(first, farther, j, n)] for j in range(replicas - 1)]
        assignment.append([brokers[first], *followers])
    return assignment


def assign_replicas_to_racks(
    racks: Mapping[int, str], partitions: int, replicas: int, start: int, shift: int
) -> list[list[int]]:
    """The same, where a follower skips racks and brokers that the partition already uses, as long as others are left.

    `racks` gives the rack of each broker.
    """
    _check(len(racks), partitions, replicas)
    brokers = alternated_by_rack(racks)
    n, count = len(brokers), len(set(racks.values()))
    assignment = []
    for i in range(partitions):
        first, farther = (start + i) % n, shift + i // n
        chosen, k = [brokers[first]], 0
        while len(chosen) < replicas:
            broker = brokers[_follower(first, farther * count, k, n)]
            k += 1
            if _is_wanted(broker, chosen, racks):
                chosen.append(broker)
        assignment.append(chosen)
    return assignment


def alternated_by_rack(racks: Mapping[int, str]) -> list[int]:
    """The brokers, one of each rack in turn: racks by name, the brokers of a rack by id."""
    of = {rack: sorted(b for b in racks if racks[b] == rack) for rack in sorted(set(racks.values()))}
    longest = max(map(len, of.values()), default=0)
    return [members[turn] for turn in range(longest) for members in of.values() if turn < len(members)]


def _follower(first, shift, j, n):
    """The place of a partition's follower `j` among `n` brokers (Kafka's replicaIndex)."""
    return (first + 1 + (shift + j) % (n - 1)) % n


def _is_wanted(broker, chosen, racks):
    """Whether a broker is chosen: neither it nor its rack is used, or no such broker is left."""
    used = {racks[b] for b in chosen}
    rack_is_free = racks[broker] not in used or len(used) == len(set(racks.values()))
    return broker not in chosen and rack_is_free


def _check(brokers, partitions, replicas):
    if partitions <= 0 or not 0 < replicas <= brokers:
        raise ValueError(f"no {partitions} partitions with {replicas} replicas on {brokers} brokers")
