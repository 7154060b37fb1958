"""What clients do otherwise than those of 3.2 to 3.9, as the other variants have them."""

from kafkaproof.spec.group.member import SYNCING
from kafkaproof.spec.group.network import ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID
from kafkaproof.spec.language.domains import NOBODY


def forgets_its_id(phase, verdict):
    """Whether an error makes the client forget its member id: the end of its generation does, too.

    Kafka: AbstractCoordinator.resetGenerationOnResponseError, 2.4 to 3.1; resetGeneration, 0.10.1 to 2.3.
    """
    return verdict == UNKNOWN_MEMBER_ID or verdict == ILLEGAL_GENERATION


def forgets_when_it_synchronizes(phase, verdict):
    """Whether an error makes the client forget its member id: the end of its generation does only where its sync was
    answered so, not its heartbeat.

    Not modelled: a commit that is answered with UNKNOWN_MEMBER_ID leaves the id, which the next join then asks about.
    Kafka: AbstractCoordinator.SyncGroupRequestHandler, 0.9; AbstractCoordinator.SyncGroupResponseHandler, 0.10.0;
           AbstractCoordinator.HeartbeatCompletionHandler, 0.9 to 0.10.0.
    """
    return verdict == UNKNOWN_MEMBER_ID or phase == SYNCING and verdict == ILLEGAL_GENERATION


def leaves_with_an_id(client):
    """Whether a client sends LeaveGroup when it closes: unless it has no member id, so a pending member does, and one in
    a rebalance.

    Kafka: AbstractCoordinator.maybeLeaveGroup (state and hasMemberId), 2.2 to 3.9.
    """
    return client.id != NOBODY
