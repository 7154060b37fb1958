"""Single changes of cluster/fenced that go unnoticed, each with the reason."""

EQUIVALENT = {}
UNNOTICED = {
    (
        "kafkaproof.spec.partition.machines.create_first_state",
        "if controller.doing != ELECTING or not is_next(controller.todo, p): return False -> "
        "if controller.doing != ELECTING: return False",
    ): "These scopes have one partition, which is the next whenever a controller elects.",
    (
        "kafkaproof.spec.partition.brokers.controlled_shutdown",
        "if contains(controller.leaving, leaver) and (not leads_anything(controller, leaver)): return False -> "
        "if not leads_anything(controller, leaver): return False",
    ): "A follower that asks to be shut down stays in the ISR until its session ends; nothing asks it to leave sooner.",
    (
        "kafkaproof.spec.partition.context.clear",
        "sequence.slots[i] = 0 -> nothing",
    ): "Nothing reads a slot beyond the length of its sequence.",
    (
        "kafkaproof.spec.partition.faults.ask_for_reassignment",
        "if not is_empty(listed(s.zk)) or not contains(assigned(s.zk, p), target): return False -> "
        "if not is_empty(listed(s.zk)): return False",
    ): "With as many brokers as replicas every broker has one; move_asked_once notices it with three brokers.",
    (
        "kafkaproof.spec.partition.progress.trigger_online",
        "controller.strategy = OFFLINE -> nothing",
    ): "The previous event has already left the strategy at that value (end_event).",
    (
        "kafkaproof.spec.partition.rebalance.rebalance",
        "controller.todo = union(controller.todo, to_rebalance(controller, preferred)) -> "
        "controller.todo = union(controller.removing, to_rebalance(controller, preferred))",
    ): "It takes two partitions with different preferred replicas; these scopes have one.",
    (
        "kafkaproof.spec.replica.network.end_in",
        "return network.messages[f].end -> return network.messages[f].hw",
    ): "Logs have one record at these scopes, so a follower that has diverged from its leader starts again at 0.",
    (
        "kafkaproof.spec.replica.broker.in_sync",
        "count += 1 -> count += 2",
    ): "min.insync.replicas is 1 at these scopes, so that no ISR is too small; enough_replicas notices it with 2.",
}
