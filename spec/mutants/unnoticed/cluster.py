"""Single changes of cluster/fenced that go unnoticed, each with the reason."""

TWO_FAULTS = "It takes two faults, and these scopes allow one; "
ASKED_AGAIN = TWO_FAULTS + "asked_once notices that something is asked for again."
HOSTED = "return hosted if controller.starting else difference(hosted, controller.deleting)"
COUNTED = "Faults are counted only to bound what is explored, and a deletion of /controller by hand is one in any case."
EQUIVALENT = {
    ("spec.replica.leader.learn_isr",
     "if broker.state != LEADER or proposal_state(s.network, b) != DONE: return False -> "
     "if proposal_state(s.network, b) != DONE: return False"):
        "Who leads no more has withdrawn what it proposed, so that only a leader has an answer.",
    ("spec.faults.delete_controller", "s.zk.faults += 1 -> s.zk.faults += 2"): COUNTED,
}
UNNOTICED = {
    ("spec.partition.context.forget_partition", "partition.failed = 0 -> nothing"):
        TWO_FAULTS + "a log directory has failed, and the controller that knows it is deposed.",
    ("spec.partition.context.forget", "controller.bounced = 0 -> controller.gone = 0"):
        TWO_FAULTS + "a broker has bounced, and the controller that knows it is deposed.",
    ("spec.partition.progress.to_take_offline", f"{HOSTED} -> {HOSTED.replace('if controller', 'if not controller')}"):
        TWO_FAULTS + "a topic is queued for deletion, and a broker goes before a reign begins.",
    ("spec.partition.faults.ask_for_preferred", "if s.zk.preferred: return False -> nothing"): ASKED_AGAIN,
    ("spec.partition.faults.crash",
     "if not s.brokers[b].up or not session_open(s.zk, b): return False -> if not s.brokers[b].up: return False"):
        TWO_FAULTS + "dies_in_session notices that a process dies whose session is over.",
    ("spec.partition.faults.expire_session",
     "if not s.brokers[b].up or not session_open(s.zk, b): return False -> if not s.brokers[b].up: return False"):
        TWO_FAULTS + "session_ends notices that a session ends twice.",
    ("spec.partition.faults.ask_for_reassignment",
     "if request.target.length > 0 or not contains(assigned(s.zk, p), target): return False -> "
     "if request.target.length > 0: return False"):
        "With as many brokers as replicas every broker has one; move_asked_once notices it with three brokers.",
    ("spec.partition.progress.trigger_online", "controller.strategy = OFFLINE -> nothing"):
        "The event before has left the strategy at that already (end_event).",
    ("spec.partition.rebalance.rebalance",
     "controller.todo = union(controller.todo, to_rebalance(controller, preferred)) -> "
     "controller.todo = union(controller.removing, to_rebalance(controller, preferred))"):
        "It takes two partitions with different preferred replicas, and these scopes have one.",
    ("spec.replica.network.end_in", "return network.messages[f].end -> return network.messages[f].hw"):
        "Logs have one record at these scopes, so that a follower that has parted from its leader begins anew, at 0.",
    ("spec.replica.broker.in_sync", "count += 1 -> count += 2"):
        "min.insync.replicas is 1 at these scopes, so that no ISR is too small; enough_replicas notices it with 2.",
}
