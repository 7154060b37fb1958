"""Changes of control requests that go unnoticed."""

COUNTED = "Faults are counted only to bound what is explored: no rule asks how many there were."
HAS_PROCESS = "Only a process has an open session."
EQUIVALENT = {
    (
        "kafkaproof.spec.requests.zookeeper.register",
        "return OK -> anything",
    ): "The answer is never looked at: there is only one.",
    ("kafkaproof.spec.requests.network.put_fault", "network.faults += 1 -> anything"): COUNTED,
    ("kafkaproof.spec.requests.network.answer", "network.faults += 1 -> anything"): COUNTED,
    ("kafkaproof.spec.requests.faults.crash", "put_fault(s.network) -> nothing"): COUNTED,
    ("kafkaproof.spec.requests.faults.expire_session", "put_fault(s.network) -> nothing"): COUNTED,
    ("kafkaproof.spec.requests.faults.fail_directory", "put_fault(s.network) -> nothing"): COUNTED,
    ("kafkaproof.spec.requests.faults.delete_controller", "put_fault(s.network) -> nothing"): COUNTED,
    ("kafkaproof.spec.requests.faults.ask_deletion", "put_fault(s.network) -> nothing"): COUNTED,
    ("kafkaproof.spec.requests.events.controlled_shutdown", "put_fault(s.network) -> nothing"): COUNTED,
    (
        "kafkaproof.spec.requests.faults.delete_controller",
        "if s.zk.controller == NOBODY: return False -> nothing",
    ): "Deleting what does not exist changes only the count of faults.",
    (
        "kafkaproof.spec.requests.faults.ask_deletion",
        "if s.zk.deleting: return False -> nothing",
    ): "Asking again changes only the count of faults.",
    (
        "kafkaproof.spec.requests.faults.expire_session",
        "if not s.brokers[b].up or not session_open(s.zk, b): return False -> "
        "if not session_open(s.zk, b): return False",
    ): HAS_PROCESS,
    (
        "kafkaproof.spec.requests.faults.crash",
        "if not s.brokers[b].up or not session_open(s.zk, b): return False -> "
        "if not session_open(s.zk, b): return False",
    ): HAS_PROCESS,
    (
        "kafkaproof.spec.requests.faults.expire_session",
        "if not s.brokers[b].up or not session_open(s.zk, b): return False -> if not s.brokers[b].up: return False",
    ): "Ending a session that is over changes only the count of faults.",
    (
        "kafkaproof.spec.requests.broker.answer_produce",
        "if not broker.up or broker.replica.leader != b: return False -> if broker.replica.leader != b: return False",
    ): "Only a broker with a process believes that it leads.",
    (
        "kafkaproof.spec.requests.broker.may_become",
        "return leader != NOBODY and (leader == b or contains(broker.alive, leader)) -> "
        "return leader == b or contains(broker.alive, leader)",
    ): "NOBODY is in no set.",
}
UNNOTICED = {
    (
        "kafkaproof.spec.requests.broker.leader_and_isr",
        "see(broker, epoch) -> nothing",
    ): "A channel begins with UpdateMetadata, from which the broker knows the epoch already."
}
