"""Asks a filter of PostgreSQL's extension bloomfilter in the program, without a query.

    from postgresql_bloomfilter import Filter

    [data] = db.execute("SELECT urls::bytea FROM visited").fetchone()
    visited = Filter(data)
    visited.contains("https://example.com/7")  # or: "https://example.com/7" in visited

It answers as the server does for the same value. What it cannot hash as the server does is an
error. Filters are only read.
"""

import base64
import binascii
from typing import Any, Iterable, List, NamedTuple, Optional, Sequence, Union

from xxhash import xxh3_64_intdigest as _xxh3

from . import _format
from ._errors import DamagedError, ElementTypeError, FilterError, UnsupportedError
from ._values import NAMES, TEXT, Encoders, all_encoded

__all__ = ["Filter", "Info", "FilterError", "DamagedError", "UnsupportedError", "ElementTypeError"]
__version__ = "1.0.0"


class Info(NamedTuple):
    """What a filter is. The names are those of bf_info."""

    type: str  # bloomfilter, countingbloomfilter or cuckoofilter
    layout: Optional[str]  # lines or pages; None for a cuckoofilter, and if links differ
    element_type: Optional[str]  # None until something was added, unless SQL named it
    seed: int
    expected: Optional[int]  # None if unknown; for several links, None unless the filter grows
    target_fpr: Optional[float]  # the same
    hashes: Optional[int]  # None for a cuckoofilter, and if links differ
    bits: int
    bytes: int  # the size of the value in SQL
    links: int
    grows: bool


def _payload(data: Union[bytes, bytearray, memoryview, str]) -> bytes:
    if not isinstance(data, str):
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise FilterError(f"a filter is bytes or a str, not {type(data).__name__}")
        return bytes(data)
    if data.startswith("\\x"):
        raise DamagedError("the text of a filter is base64, but this is the text of a bytea: "
                           "pass bytes.fromhex(data[2:])")
    try:
        text = data.encode("ascii").translate(None, b" \t\r\n")
        payload = base64.b64decode(text, validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise DamagedError("the text of a filter is base64") from None
    if base64.b64encode(payload) != text:
        raise DamagedError("the text of a filter is base64 without unused bits")
    return payload


class Filter:
    """A stored filter. `data` is what the server gives for filter::bytea, or the filter's text.

    For a filter of rows, `row` may name the element types of the fields. It must do so if a field
    can be None.
    """

    def __init__(self, data: Union[bytes, bytearray, memoryview, str], *,
                 row: Optional[Sequence[str]] = None):
        payload = _payload(data)
        head = _format.read(payload)
        self.info = _info(head, len(payload))
        self._make(payload, head, Encoders(head.family, head.shape, row))

    def _make(self, payload: bytes, head: _format.Head, encoder_of: Encoders) -> None:
        has, seed = _format.probe(payload, head.links), head.seed
        known, by_type = head.family != 0, encoder_of.by_type

        def contains(value: Any) -> bool:
            encode = by_type.get(type(value)) or encoder_of(value)
            for data in encode(value):
                if known and has(_xxh3(data, seed)):
                    return True
            return False

        def contains_each(values: Iterable[Any]) -> List[Optional[bool]]:
            if isinstance(values, (str, bytes, bytearray, memoryview)):  # iterable, but no list
                raise TypeError("contains_each takes a list of values, not "
                                f"{type(values).__name__}: ask contains(value) for one value")
            values = list(values)
            if head.family == TEXT:
                data = all_encoded(values)
                if data is not None:
                    return [has(_xxh3(text, seed)) for text in data]
            return [None if value is None else contains(value) for value in values]

        self._contains, self._contains_each = contains, contains_each

    def contains(self, value: Any) -> bool:
        """Is the value possibly in the set? False is certain."""
        return self._contains(value)

    def __contains__(self, value: Any) -> bool:
        """The same, written as `value in filter`."""
        return self._contains(value)

    def contains_each(self, values: Iterable[Any]) -> List[Optional[bool]]:
        """The answers for many values, in their order. None for None, as in SQL."""
        return self._contains_each(values)

    def __repr__(self) -> str:
        return f"<{self.info.type} of {self.info.element_type or 'any'} values, " \
               f"{self.info.bytes} bytes>"


def _info(head: _format.Head, length: int) -> Info:
    links, cuckoo = head.links, head.layout == _format.CUCKOO
    layouts = {link.layout & 15 for link in links}
    hashes = {link.k for link in links}
    kind = ("bloomfilter", "countingbloomfilter", "cuckoofilter")[head.layout >> 4]
    return Info(
        kind,
        None if cuckoo or len(layouts) > 1 else ("lines", "pages")[layouts.pop() - 1],
        NAMES[head.family] if head.family else None,
        head.seed - 2**64 if head.seed >= 2**63 else head.seed,
        head.expected or None, head.rate or None,
        None if cuckoo or len(hashes) > 1 else hashes.pop(),
        sum(link.bits for link in links), length + 4, len(links), head.grows)
