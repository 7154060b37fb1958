"""What the columns of events are; docs/replay.md says what they mean."""

import numpy as np
import pyarrow as pa

CODES = pa.dictionary(pa.int32(), pa.string())
_ACL = pa.struct([("permissions", pa.int32()), ("scheme", pa.string()), ("id", pa.string())])
SCHEMA = pa.schema(
    [
        ("zxid", pa.int64()),
        ("time", pa.timestamp("ms", "UTC")),
        ("session", CODES),
        ("cxid", pa.int32()),
        ("multi", pa.bool_()),
        ("place", pa.int32()),
        ("operations", pa.int32()),
        ("operation", CODES),
        ("path", CODES),
        ("version", pa.int32()),
        ("error", CODES),
        ("timeout", pa.int32()),
        ("ephemeral", pa.bool_()),
        ("mode", CODES),
        ("parent_cversion", pa.int32()),
        ("ttl", pa.int64()),
        ("paths", pa.list_(pa.string())),
        ("acl", pa.list_(_ACL)),
        ("text", pa.string()),
        ("bytes", pa.binary()),
        ("chroot", CODES),
        ("kind", CODES),
        ("group", CODES),
        ("topic", CODES),
        ("partition", pa.int32()),
        ("broker", pa.int32()),
        ("leader", pa.int32()),
        ("leader_epoch", pa.int32()),
        ("controller_epoch", pa.int32()),
        ("isr", pa.list_(pa.int32())),
    ]
)
"""One row for each operation, and for a multi without any. What an operation does not have is null."""


def column_of(name: str, values: list) -> pa.Array:
    """Values as the column of that name."""
    kind = SCHEMA.field(name).type
    return pa.array(values, kind.value_type if pa.types.is_dictionary(kind) else kind).cast(kind)


def named(codes: np.ndarray, names: pa.Array) -> pa.DictionaryArray:
    """The names of which `codes` are the places, null where one is negative; a name that does not occur is left out."""
    found = pa.array(codes, mask=codes < 0).dictionary_encode()
    return pa.DictionaryArray.from_arrays(found.indices, names.take(found.dictionary))
