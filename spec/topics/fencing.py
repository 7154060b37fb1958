"""The requests of a controller in a multi that checks the version of /controller_epoch: also FENCED (2.1 and later)."""

from kafkaproof.spec.language.combine import checked
from kafkaproof.spec.partition.zookeeper import check_epoch
from kafkaproof.spec.topics import tree, zookeeper

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
