"""What clients of Python do at their defaults; each case returns what it read, or raises what it was refused with."""

from __future__ import annotations

import time

import confluent_kafka
import kafka

PATIENCE = 20.0
"""How long a record is waited for, in seconds."""


class NothingRead(Exception):
    """Nothing was read, and no error was told."""


def kafka_python_producer(servers: list[str], topic: str) -> str:
    """kafka-python's producer at its defaults."""
    producer = kafka.KafkaProducer(bootstrap_servers=servers)
    try:
        return str(producer.send(topic, b"of kafka-python").get(PATIENCE).offset)
    finally:
        producer.close(timeout=1)


def kafka_python_consumer(servers: list[str], topic: str) -> str:
    """kafka-python's consumer, in a group."""
    consumer = kafka.KafkaConsumer(
        topic,
        bootstrap_servers=servers,
        group_id=f"{topic}-kafka-python",
        auto_offset_reset="earliest",
        consumer_timeout_ms=int(PATIENCE * 1000),
    )
    try:
        return str(next(consumer).value)
    except StopIteration:
        raise NothingRead from None
    finally:
        consumer.close()


def librdkafka_producer(servers: list[str], topic: str, **settings) -> str:
    """librdkafka's producer."""
    failures: list = []
    settings = {
        "bootstrap.servers": ",".join(servers),
        "log_level": 0,
        "error_cb": lambda error: failures.append(error),
        **settings,
    }
    producer, reports = confluent_kafka.Producer(settings), []
    producer.produce(topic, b"of librdkafka", on_delivery=lambda *report: reports.append(report))
    try:
        producer.flush(PATIENCE)
    except SystemError:
        pass  # a fatal error, which the report or the callback tells
    if not reports or reports[0][0] is not None:
        raise confluent_kafka.KafkaException(reports[0][0] if reports else next(iter(failures), None))
    return str(reports[0][1].offset())


def librdkafka_idempotent_producer(servers: list[str], topic: str) -> str:
    """The same, idempotent."""
    return librdkafka_producer(servers, topic, **{"enable.idempotence": True})


def librdkafka_consumer(servers: list[str], topic: str, **settings) -> str:
    """librdkafka's consumer, in a group."""
    failures: list = []
    settings = {
        "bootstrap.servers": ",".join(servers),
        "group.id": f"{topic}-librdkafka",
        "auto.offset.reset": "earliest",
        "log_level": 0,
        "error_cb": lambda error: failures.append(error),
        **settings,
    }
    consumer, until = confluent_kafka.Consumer(settings), time.monotonic() + PATIENCE
    consumer.subscribe([topic])
    try:
        while time.monotonic() < until:
            message = consumer.poll(1.0)
            if message is not None and message.error():
                raise confluent_kafka.KafkaException(message.error())
            if message is not None:
                return str(message.value())
        if failures:
            raise confluent_kafka.KafkaException(failures[0])
        raise NothingRead
    finally:
        consumer.close()


def librdkafka_new_consumer(servers: list[str], topic: str) -> str:
    """The same with the protocol of KIP-848."""
    return librdkafka_consumer(servers, topic, **{"group.id": f"{topic}-new", "group.protocol": "consumer"})


PYTHON, LIBRDKAFKA = f"kafka-python {kafka.__version__}", f"librdkafka {confluent_kafka.libversion()[0]}"
CLIENTS = (
    (LIBRDKAFKA, "producer at defaults", librdkafka_producer),
    (LIBRDKAFKA, "idempotent producer", librdkafka_idempotent_producer),
    (LIBRDKAFKA, "consumer in a group", librdkafka_consumer),
    (PYTHON, "producer at defaults (idempotent)", kafka_python_producer),
    (PYTHON, "consumer in a group", kafka_python_consumer),
    (LIBRDKAFKA, "consumer with group.protocol=consumer", librdkafka_new_consumer),
)
