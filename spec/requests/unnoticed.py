"""Changes of control requests that go unnoticed."""

COUNTED = "Faults are counted only to bound what is explored: no rule asks how many there were."
NOTHING_WAITS = "Nothing waits where control requests have a queue of their own."
EQUIVALENT = {
    ("kafkaproof.spec.requests.network.answer", "zk.faults += 1 -> anything"): COUNTED,
    ("kafkaproof.spec.requests.batch.clear", "batch.waits = 0 -> batch.update = 0"): NOTHING_WAITS,
    ("kafkaproof.spec.requests.batch.clear", "batch.waits = 0 -> nothing"): NOTHING_WAITS,
    ("kafkaproof.spec.requests.batch.remove_first", "batch.waits = 0 -> nothing"): NOTHING_WAITS,
    (
        "kafkaproof.spec.requests.controller.handle_answer",
        "effect(s, b) -> nothing",
    ): "Nothing is collected yet: the elections and removals that follow tell what has changed.",
    (
        "kafkaproof.spec.requests.broker.answer_produce",
        "if not broker.up or not leads_any(broker, b): return False -> if not leads_any(broker, b): return False",
    ): "Only a broker with a process believes that it leads.",
}
UNNOTICED = {
    (
        "kafkaproof.spec.requests.broker.leader_and_isr",
        "see(broker, epoch) -> nothing",
    ): "A channel begins with UpdateMetadata, from which the broker knows the epoch already."
}
