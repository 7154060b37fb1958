"""The partition system with a controller that creates topics, and what is known of it."""

from dataclasses import replace

from kafkaproof.spec.kafka.declarations import asking
from kafkaproof.spec.language.model import EVENT
from kafkaproof.spec.partition.creation import creation, zookeeper
from kafkaproof.spec.partition.creation import properties as topic_creation
from kafkaproof.spec.partition.model import FENCED, reading, scope, writing

CREATION = (
    *asking(creation.configure_topic),
    *writing(creation.create_topic, kind=EVENT),
    *reading(creation.topic_change),
)
CREATION_SEAMS = (zookeeper.write_topic_config, zookeeper.checked_create_topic, zookeeper.read_topics)


def creating(fenced, variant, story, **changes):
    """A variant in which the controller creates topics, besides what `fenced` has."""
    return replace(
        fenced,
        variant=variant,
        story=story,
        transitions=fenced.transitions + CREATION,
        properties=topic_creation.properties(fenced.properties),
        seams=fenced.seams + CREATION_SEAMS,
        **changes,
    )


CREATED_IN_VAIN = {"is_served_despite_loss": 9, "may_go_when_followed": 13}
CREATING = creating(
    FENCED,
    "creating",
    "An administrator has the controller create a topic while brokers fail: it gets a leader from whoever rules.",
    initial=creation.initial_with_room,
    scope=scope(),
    expected=dict.fromkeys([scope(epochs=1, leader_epochs=2), scope(), scope(brokers=3)], CREATED_IN_VAIN)
    | {scope(partitions=2, epochs=1, leader_epochs=2): {"is_served_despite_loss": 8, "may_go_when_followed": 12}},
    others={"quick": scope(epochs=1, leader_epochs=2), "deep": scope(partitions=2, epochs=1, leader_epochs=2)},
)
MODELS = (CREATING,)
