"""A strict reader of tegrastats' line, field by field, in every form that boards were seen to print."""

from __future__ import annotations

import re
from dataclasses import dataclass

from twin.l4t.shapes import Misshapen

TIME = r"\d\d-\d\d-\d{4} \d\d:\d\d:\d\d"
MEMORY = r"RAM (\d+)/(\d+)MB \(lfb \d+x\d+MB\)"
SWAP = r"SWAP (\d+)/(\d+)MB \(cached \d+MB\)"
CORE = re.compile(r"off|\d{1,3}%@\d+")
CLOCK = r"(?:\d{1,3}%)?(?:@\[\d+(?:,\d+)*\]|@\d+)?"
# Everything after the cores: a name, then a form that belongs to it.
FIELDS = (
    ("emc", re.compile(r"EMC_FREQ \d{1,3}%@\d+ ")),
    ("gpu", re.compile(rf"GR3D2?_FREQ (?=[\d@]){CLOCK} ")),
    ("engine", re.compile(r"(?:NVENC|NVDEC|NVJPG|NVDLA|PVA|VIC|OFA|APE)\d?(?:_FREQ)? (?:off|@?\d+) ")),
    ("temperature", re.compile(r"[A-Za-z]+\d*@-?\d+(?:\.\d+)?C(?:/-?\d+(?:\.\d+)?C)? ")),
    ("rail", re.compile(r"(?:VDD|VIN)\w* \d+mW/\d+mW(?:/\d+mW)? ")),
)


@dataclass(frozen=True)
class Stats:
    ram_mb: tuple[int, int]
    swap_mb: tuple[int, int] | None
    cores: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]  # (kind, the field as it stands)

    def of(self, kind: str) -> tuple[str, ...]:
        return tuple(text for name, text in self.fields if name == kind)


def read_tegrastats(line: str) -> Stats:
    """One line; every field must be known, and the kinds must come in the tool's order."""
    head = re.match(rf"{TIME} {MEMORY} (?:{SWAP} )?CPU \[([^]]+)\] ", line)
    if head is None:
        raise Misshapen(line)
    cores = tuple(head[5].split(","))
    if not all(map(CORE.fullmatch, cores)):
        raise Misshapen(head[5])
    rest, fields, kinds = line[head.end() :] + " ", [], [kind for kind, _ in FIELDS]
    while rest:
        kind, match = next(((kind, found) for kind, form in FIELDS if (found := form.match(rest))), ("", None))
        if match is None or (fields and kinds.index(kind) < kinds.index(fields[-1][0])):
            raise Misshapen(rest)
        fields.append((kind, match[0].strip()))
        rest = rest[match.end() :]
    swap = (int(head[3]), int(head[4])) if head[3] else None
    return Stats((int(head[1]), int(head[2])), swap, cores, tuple(fields))
