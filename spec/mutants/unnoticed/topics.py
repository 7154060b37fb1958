"""Single changes of topics/kip455 that go unnoticed, each with the reason."""

EQUIVALENT: dict[tuple[str, str], str] = {}
UNNOTICED = {
    ("spec.topics.creation.begin_partitions", "move_partition(partition, NEW_PARTITION) -> nothing"):
        "At the scopes that are asked a topic is created once, with one partition: no controller hears of another.",
    ("spec.topics.context.forget", "controller.bounced = 0 -> controller.live = 0"):
        "A reign that ends while a broker has bounced takes a crash and another election, more faults than are asked.",
}
