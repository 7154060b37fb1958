"""Frames of Kafka, written by kio: any schema, with the values that are given and the simplest ones elsewhere."""

import dataclasses
import datetime
import io
import types
import typing
import uuid

from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_writer

LEADER_AND_ISR, STOP_REPLICA, CONTROLLED_SHUTDOWN, FETCH, ALTER_PARTITION = 4, 5, 7, 1, 56


def made(schema, **values):
    """An entity of a schema; a list of records is given as dicts."""
    hints = typing.get_type_hints(schema)
    found = {}
    for field in dataclasses.fields(schema):
        given = values.pop(field.name, None)
        kind = hints[field.name]
        if typing.get_origin(kind) is tuple and given is not None:
            of = typing.get_args(kind)[0]
            given = tuple(made(of, **each) if isinstance(each, dict) else of(each) for each in given)
        elif given is not None:
            given = _plain(kind)(given)
        elif field.default is dataclasses.MISSING:
            given = _least(kind)
        else:
            given = field.default
        found[field.name] = given
    assert not values, f"{schema} has no {values}"
    return schema(**found)


def _plain(kind):
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return next(each for each in typing.get_args(kind) if each is not type(None))
    return kind


def _least(kind):
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return None
    if typing.get_origin(kind) is tuple:
        return ()
    if kind is uuid.UUID:
        return uuid.UUID(int=1)
    if dataclasses.is_dataclass(kind):
        return made(kind)
    for value in 0, datetime.timedelta(), datetime.datetime.fromtimestamp(0, datetime.UTC):
        try:
            return kind.parse(value) if hasattr(kind, "parse") else kind(value)
        except TypeError:
            continue
    return kind()


def request(key, version, number, client, **values):
    """The frame of a request."""
    schema = load_request_schema(key, version)
    head, known = (
        schema.__header_schema__,
        {"request_api_key": key, "request_api_version": version, "correlation_id": number, "client_id": client},
    )
    head = made(head, **{name: value for name, value in known.items() if name in head.__dataclass_fields__})
    return _frame(head, made(schema, **values))


def answer(key, version, number, **values):
    """The frame of an answer."""
    schema = load_response_schema(key, version)
    return _frame(made(schema.__header_schema__, correlation_id=number), made(schema, **values))


def _frame(*entities):
    content = io.BytesIO()
    for entity in entities:
        entity_writer(type(entity))(content, entity)
    return len(content.getvalue()).to_bytes(4, "big") + content.getvalue()
