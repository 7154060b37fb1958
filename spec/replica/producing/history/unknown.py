"""How leaders of earlier releases answer a producer of whom they know nothing."""

from kafkaproof.spec.replica.producing.sequences import OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID
from kafkaproof.spec.replica.zookeeper import OK


def out_of_order_unless_first(first):
    """OK for sequence number 0, otherwise OUT_OF_ORDER_SEQUENCE_NUMBER, which ends the producer (0.11).

    Kafka: ProducerAppendInfo.validateAppend, 0.11.
    """
    return OK if first == 0 else OUT_OF_ORDER_SEQUENCE_NUMBER


def unknown_unless_first(first):
    """OK for sequence number 0, otherwise UNKNOWN_PRODUCER_ID (1.0 to 2.4, KAFKA-5793).

    Kafka: ProducerAppendInfo.checkSequence, 1.0 to 2.4.
    """
    return OK if first == 0 else UNKNOWN_PRODUCER_ID
