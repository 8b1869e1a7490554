"""Tasks as JSON."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw

from assay.model.task import TaskRecord

NULL: Final = b"null"

encode_task: Final = msgspec.json.Encoder().encode


class _StoredTask(TaskRecord, frozen=True, kw_only=True):
    # A decoder cannot tell `Raw` from `None`.
    result: Raw = Raw(NULL)


_decode: Final = msgspec.json.Decoder(_StoredTask).decode


def decode_task(data: bytes, serial: int) -> TaskRecord:
    stored = _decode(data)
    fields = {name: getattr(stored, name) for name in TaskRecord.__struct_fields__}
    result = None if bytes(stored.result) == NULL else stored.result.copy()
    return TaskRecord(**{**fields, "result": result, "serial": serial})
