#!/usr/bin/python
"""Keeps what was there before the road to Super was taken, and what is known of the bootloader slots."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.rerig_agent.facts.jetson import SLOT_RECORD
from ansible.module_utils.rerig_agent.facts.super_road import PENDING, STATE

DOCUMENTATION = r"""
module: road_notes
short_description: Keep what was there before the road to Super was taken
description:
  - rerig's own notes below /var/lib/rerig, on the disk itself before it returns. They never count as a change.
author: the rerig authors
options:
  action:
    description:
      - C(keep) copies files and notes what else the way back takes, unless an unfinished run did.
      - C(staged) notes that all is in place for the next boot, and what is known of the slots by then.
      - C(settled) notes what is known of the slots, and puts aside what was kept, which nothing can go back to.
      - C(forget) removes what was kept, once it is all put back.
    type: str
    choices: [keep, staged, settled, forget]
    required: true
  files:
    description: Files to copy.
    type: list
    elements: path
    default: []
  notes:
    description: What else to keep, or what to note of the staged capsule.
    type: dict
    default: {}
  slots:
    description: What is known of the slots.
    type: dict
    default: {}
attributes:
  check_mode:
    support: full
    description: Nothing is written.
"""

EXAMPLES = r"""
- name: Keep what is there
  road_notes:
    action: keep
    files: [/etc/nv_boot_control.conf]
    notes: {slot: B}
"""

RETURN = r"""
folder:
  description: Where it is kept.
  returned: always
  type: str
"""


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={
            "action": {"type": "str", "choices": ["keep", "staged", "settled", "forget"], "required": True},
            "files": {"type": "list", "elements": "path", "default": []},
            "notes": {"type": "dict", "default": {}},
            "slots": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    asked = module.params
    if not module.check_mode:
        try:
            if asked["action"] == "keep":
                keep(asked["files"], asked["notes"])
            elif asked["action"] == "staged":
                write(Path(SLOT_RECORD), asked["slots"], 0o644)
                write(Path(PENDING) / "staged.json", asked["notes"], 0o600)
            elif asked["action"] == "settled":
                settle(asked["slots"], asked["notes"])
            else:
                forget(asked["notes"])
        except OSError as error:
            module.fail_json(msg=f"rerig's notes in /var/lib/rerig can't be kept: {error}.")
    module.exit_json(changed=False, folder=PENDING)


def keep(files: list[str], notes: dict[str, Any]) -> None:
    folder = Path(PENDING)
    make_folder()
    Path(STATE).mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    for name in files:
        source, copy = Path(name), folder / Path(name).name
        if not copy.exists() and source.exists():
            shutil.copy2(str(source), str(copy))
            status = source.stat()
            os.chown(str(copy), status.st_uid, status.st_gid)
            sync(copy)
    if not (folder / "state.json").exists():
        write(folder / "state.json", notes, 0o600)
    sync(folder)


def make_folder() -> None:
    """What is known of the slots is for everybody to read."""
    folder = Path(SLOT_RECORD).parent
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)


def settle(slots: dict[str, Any], notes: dict[str, Any]) -> None:
    if slots:
        make_folder()
        write(Path(SLOT_RECORD), slots, 0o644)
    if notes.get("slot") and Path(PENDING).is_dir():
        aside = Path(STATE) / f"from-slot-{notes['slot']}"
        if aside.is_dir():
            shutil.rmtree(str(aside))
        Path(PENDING).rename(aside)
        sync(aside.parent)


def forget(notes: dict[str, Any]) -> None:
    """``slot_record``: the text of the note on the slots as it was."""
    record = Path(SLOT_RECORD)
    if notes.get("slot_record") is not None:
        record.write_text(notes["slot_record"], "utf-8")
    elif record.exists():
        record.unlink()
    shutil.rmtree(PENDING)
    for folder in (Path(STATE), record.parent):
        with contextlib.suppress(OSError):  # another role's notes are in it
            folder.rmdir()


def write(file: Path, data: dict[str, Any], mode: int) -> None:
    """As a whole or not at all, and onto the disk."""
    aside = file.with_name(f".{file.name}.new")
    aside.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", "utf-8")
    aside.chmod(mode)
    sync(aside)
    aside.rename(file)
    sync(file.parent)


def sync(path: Path) -> None:
    handle = os.open(str(path), os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


if __name__ == "__main__":
    main()
