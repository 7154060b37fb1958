"""The requests of a controller in a multi that checks the version of /controller_epoch: also FENCED (2.1 and later)."""

from kafkaproof.spec.kafka.zookeeper import FENCED, OK
from kafkaproof.spec.language.combine import checked
from kafkaproof.spec.partition.zookeeper import session_open
from kafkaproof.spec.topics import tree, zookeeper
from kafkaproof.spec.topics.zookeeper import disconnect


def check_epoch(zk, b, epoch):
    """check of /controller_epoch: OK, or FENCED where another controller has been elected."""
    if session_open(zk, b) and zk.epoch != epoch:
        disconnect(zk, b)
        return FENCED
    return OK


checked_create_state = checked(zookeeper.create_state, check_epoch)
checked_set_state = checked(zookeeper.set_state, check_epoch)
checked_shrink = checked(zookeeper.shrink, check_epoch)
checked_set_isr = checked(zookeeper.set_isr, check_epoch)
checked_set_topic = checked(tree.set_topic, check_epoch)
checked_delete_state = checked(tree.delete_state, check_epoch)
checked_delete_topic = checked(tree.delete_topic, check_epoch)
checked_delete_config = checked(tree.delete_config, check_epoch)
checked_delete_marker = checked(tree.delete_marker, check_epoch)
checked_delete_request = checked(tree.delete_request, check_epoch)
