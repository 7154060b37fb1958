"""Changes to the migration of offsets that no property notices."""

EQUIVALENT = {
    (
        "kafkaproof.spec.offsets.members.begin",
        "member.checkpoint = checkpoint_at(s, member.position) -> "
        "member.checkpoint = checkpoint_at(s, member.checkpoint)",
    ): "In this variant the checkpoint is what ZooKeeper has, whatever the position."
}
UNNOTICED = {}
