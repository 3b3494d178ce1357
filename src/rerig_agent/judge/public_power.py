"""Names out of nvpmodel's files that a sentence may repeat. Others may be a person's own words."""

from __future__ import annotations

import re
from typing import Any

# As NVIDIA's files have them: nvpmodel_p3767_0003_super.conf, MAXN_SUPER, 7W_AI, MODE_30W, CPU_A78_0 MAX_FREQ.
_FILE = re.compile(r"nvpmodel_p[0-9]{4}_[0-9]{4}(?:_super)?(?:_maxn)?\.conf\Z")
_MODE = re.compile(r"(?:MODE_)?(?:MAXN(?:_SUPER)?|[0-9]{1,3}W)(?:_(?:AI|CPU|[0-9]CORE))?\Z")
_SETTING = re.compile(r"(?:CPU|GPU|EMC|TPC|FBP|DLA|NVDLA|PVA|VIC|CVNAS)(?:_[A-Z0-9]{1,12}){0,4} [A-Z0-9_]{1,24}\Z")


def public_file(name: Any) -> str | None:
    """The file's name, or None."""
    return name if isinstance(name, str) and _FILE.match(name) else None


def public_mode(name: str) -> str:
    """The mode's name, or words for one that somebody made."""
    return name if _MODE.match(name) else "one of its owner's"


def public_setting(what: str) -> str:
    """The setting's name, or words for one that somebody made."""
    return what if _SETTING.match(what) else "a setting"
