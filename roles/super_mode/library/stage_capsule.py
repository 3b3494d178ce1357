#!/usr/bin/python
"""Puts a capsule where the firmware looks for one at the next boot, onto the disk itself, and takes it away again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.rerig_agent.facts.super_road import CAPSULES, file_sha256
from ansible.module_utils.rerig_agent.judge.super_gates import CAPSULE_NAME

DOCUMENTATION = r"""
module: stage_capsule
short_description: Put a capsule onto the EFI system partition
description:
  - Copies it to EFI/UpdateCapsule, syncs file and folders, and reads it back from the disk.
  - The firmware looks there only where OsIndications asks it to; that is set by another module, afterwards.
author: the rerig authors
options:
  esp:
    description: Where the EFI system partition is mounted.
    type: path
    required: true
  src:
    description: The capsule. Needed where it shall be there.
    type: path
  sha256:
    description: Its SHA-256. Needed where it shall be there.
    type: str
  state:
    description: Whether it shall be there.
    type: str
    choices: [present, absent]
    default: present
  remove_folders:
    description: Folders to remove with it, where they are empty then; the outermost first.
    type: list
    elements: path
    default: []
attributes:
  check_mode:
    support: full
    description: Says whether it would change something.
"""

EXAMPLES = r"""
- name: Stage the capsule
  stage_capsule:
    esp: /boot/efi
    src: /opt/ota_package/t23x/TEGRA_BL_3767_super.Cap
    sha256: "{{ sum }}"
"""

RETURN = r"""
path:
  description: Where it is staged.
  returned: always
  type: str
"""


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={
            "esp": {"type": "path", "required": True},
            "src": {"type": "path"},
            "sha256": {"type": "str"},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "remove_folders": {"type": "list", "elements": "path", "default": []},
        },
        required_if=[("state", "present", ("src", "sha256"))],
        supports_check_mode=True,
    )
    asked = module.params
    file = Path(asked["esp"]) / CAPSULES / CAPSULE_NAME
    try:
        if asked["state"] == "absent":
            changed = take_away(file, asked["remove_folders"], module.check_mode)
        else:
            changed = not same(file, asked["sha256"])
            if changed and not module.check_mode:
                stage(Path(asked["src"]), file)
                if not same(file, asked["sha256"]):
                    module.fail_json(msg=f"The capsule was copied to {file} and reads back as something else.")
    except OSError as error:
        module.fail_json(msg=f"The capsule can't be staged: {error}.")
    module.exit_json(changed=changed, path=str(file))


def same(file: Path, sha256: str) -> bool:
    try:
        return file_sha256(file) == sha256
    except FileNotFoundError:
        return False


def stage(source: Path, file: Path) -> None:
    """Straight to its name: every file in that folder counts, so that one to be renamed would count twice."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with source.open("rb") as old, file.open("wb") as new:
            shutil.copyfileobj(old, new, 1 << 20)
            new.flush()
            os.fsync(new.fileno())
            # so that it is read back from the disk
            os.posix_fadvise(new.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError:
        if file.exists():
            file.unlink()
        raise
    for folder in list(file.parents)[:3]:
        sync(folder)


def sync(folder: Path) -> None:
    handle = os.open(str(folder), os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def take_away(file: Path, folders: list[str], check: bool) -> bool:
    there = [Path(folder) for folder in reversed(folders) if Path(folder).is_dir()]
    changed = file.exists() or any(not list(folder.iterdir()) for folder in there)
    if check:
        return changed
    if file.exists():
        file.unlink()
        sync(file.parent)
    for folder in there:
        if not list(folder.iterdir()):
            folder.rmdir()
            sync(folder.parent)
    return changed


if __name__ == "__main__":
    main()
