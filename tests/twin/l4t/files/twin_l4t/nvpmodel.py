"""nvpmodel: shows and sets the power mode, with the words, order and exit statuses of the real tool."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from . import board, conf, place, settle

ACTIVE = "/etc/nvpmodel.conf"
STATUS = "/var/lib/nvpmodel/status"
REBOOTED = f"{place.RUN}/reboot-asked"
USAGE = "Usage: nvpmodel [-q] [-p] [-m ID] [-f CONF] [--verbose] [--force]"


class Failed(Exception):
    """An NVPM ERROR line; the tool prints it on standard output."""


class Options:
    def __init__(self, words: list[str]) -> None:
        self.query = self.parse = self.verbose = self.force = False
        self.mode: int | None = None
        self.conf: str | None = None
        words = list(words)
        while words:
            word = words.pop(0)
            if word in ("-q", "--query"):
                self.query = True
            elif word in ("-p", "--parse"):
                self.parse = True
            elif word == "--verbose":
                self.verbose = True
            elif word == "--force":
                self.force = True
            elif word in ("-m", "--mode") and words and words[0].isdigit():
                self.mode = int(words.pop(0))
            elif word in ("-f", "--conf") and words:
                self.conf = words.pop(0)
            else:
                place.die(USAGE)


class Tool:
    def __init__(self, options: Options) -> None:
        self.options = options
        self.board = board.load()
        self.conf_name = options.conf or ACTIVE
        text = place.read(self.conf_name)
        if text is None:
            raise Failed(f"Error opening {self.conf_name}: 2")
        try:
            self.conf = conf.parse(text, newer_kernel=self.board["release"] >= 36)
        except (ValueError, KeyError, TypeError):
            raise Failed(f"failed to parse {self.conf_name}") from None

    def run(self) -> None:
        if self.options.parse:
            self.show_conf()
        elif self.options.query:
            self.show_mode()
        elif self.options.mode is not None:
            self.switch(self.options.mode)
        elif self.options.conf:
            self.start()
        else:
            place.die(USAGE)

    # What it shows.

    def say_verbose(self, *lines: str) -> None:
        if self.options.verbose:
            print("\n".join(f"NVPM VERB: {line}" for line in lines))

    def show_mode(self) -> None:
        for line in self.board["nvpmodel_warnings"]:
            print(f"NVPM WARN: {line}")
        self.say_verbose(f"Config file: {self.conf_name}", f"parsing done for {self.conf_name}")
        mode = self.stored_mode()
        if mode is None:
            raise Failed(f"Error opening {STATUS}: 2")
        if mode not in self.conf.models:
            raise Failed(f"request for bad power mode {mode}")
        model = self.conf.models[mode]
        print(f"{'NVPM VERB: Current mode: ' if self.options.verbose else ''}NV Power Mode: {model.name}\n{model.id}")
        if self.options.verbose:
            for setting in model.settings:
                self.show_setting(setting)

    def show_setting(self, setting: conf.Setting) -> None:
        where = self.conf.path(setting)
        head = f"PARAM {setting.parameter}: ARG {setting.argument}: PATH {where}"
        try:
            real = place.path(where).read_text("utf-8").strip()
        except OSError as error:
            print(f"NVPM ERROR: Error opening {where}: {error.errno}\nNVPM ERROR: failed to read {head}")
            return
        print(f"NVPM VERB: {head}: REAL_VAL: {real} CONF_VAL: {self.printed(setting)}")

    def printed(self, setting: conf.Setting) -> str:
        return str(settle.INT_MAX[self.board["release"] >= 36]) if setting.value == "-1" else setting.value

    def show_conf(self) -> None:
        self.say_verbose(f"Config file: {self.conf_name}", f"parsing done for {self.conf_name}")
        print(f"succeed to parse file {self.conf_name}.")
        default = self.conf.models[self.conf.default]
        self.say_verbose(f"PM_CONFIG: DEFAULT={default.name}({default.id})")
        for parameter in self.conf.parameters.values():
            self.say_verbose(f"PARAM TYPE={parameter.kind} NAME={parameter.name}")
            self.say_verbose(*(f"{argument} {where}" for argument, where in parameter.paths.items()))
        self.say_verbose("")
        for model in self.conf.models.values():
            self.say_verbose(f"POWER_MODEL: ID={model.id} NAME={model.name}")
            self.say_verbose(*(f"{one.parameter} {one.argument} {self.printed(one)}" for one in model.settings), "")

    # What it changes.

    def stored_mode(self) -> int | None:
        match = re.search(r"pmode:(\d+)", place.read(STATUS) or "")
        return int(match.group(1)) if match else None

    def store_mode(self, mode: int) -> None:
        fan = re.search(r"fmode:\w+", place.read(STATUS) or "")
        place.write(STATUS, f"pmode:{mode:04d}{' ' + fan.group() if fan else ''}\n")

    def start(self) -> None:
        """``-f CONF`` alone, at boot: the stored mode if the configuration has it, else its default."""
        stored = self.stored_mode()
        mode = stored if stored in self.conf.models else self.conf.default
        self.apply(self.conf.models[mode])
        self.store_mode(mode)

    def switch(self, mode: int) -> None:
        if in_chroot(self.board):
            print("Running in chroot, ignoring request.")
            self.store_mode(mode)
            return
        if mode not in self.conf.models:
            raise Failed(f"request for bad power mode {mode}")
        if not place.is_root():
            raise Failed(f"Error opening {STATUS}: 13")
        model = self.conf.models[mode]
        if self.board["gpu_in_use"] and self.changes_the_gpu(model):
            self.ask_for_reboot(mode)
            self.store_mode(mode)
            reboot()
            return
        self.apply(model)
        self.store_mode(mode)

    def changes_the_gpu(self, model: conf.PowerModel) -> bool:
        """Whether another set of the GPU's clusters is switched on, which a GPU in use doesn't allow."""
        masks = [one for one in model.settings if one.argument == "TPC_PG_MASK"]
        return any(place.word(self.conf.path(one)) != one.value for one in masks)

    def ask_for_reboot(self, mode: int) -> None:
        print("NVPM WARN: Golden image context is already created")
        print(f"NVPM WARN: Reboot required for changing to this power mode: {mode}")
        if self.options.force:
            print("Automatically rebooting to reflect the mode change")
        else:
            print("NVPM WARN: DO YOU WANT TO REBOOT NOW? enter YES/yes to confirm:", flush=True)
            answer = sys.stdin.readline()
            if not answer:
                raise Failed("bad input!")
            if answer.strip() not in ("YES", "yes"):
                raise Failed("optMask is 1, no request for power mode")
        print("NVPM WARN: rebooting..", flush=True)

    def apply(self, model: conf.PowerModel) -> None:
        flash = board.load_flash()
        emc_max_hz = board.running_flavour(self.board, flash)["clocks"]["emc_max_hz"]
        for setting in model.settings:
            where = self.conf.path(setting)
            parameter = self.conf.parameters[setting.parameter]
            if not place.path(where).exists():
                print(f"NVPM ERROR: Error opening {where}: 2")
                continue
            if parameter.kind != "CLOCK":
                place.write(where, f"{setting.value}\n")
                continue
            limits = settle.hardware_limits(parameter, emc_max_hz)
            value = settle.settle(int(setting.value), setting.argument.startswith("MAX"), limits)
            place.write(where, f"{value}\n")
            settle.follow(where)


def in_chroot(settings: dict[str, Any]) -> bool:
    """Whether the tool takes itself to be in a chroot: process 1 has another root, or the personality says so."""
    if settings["chroot"]:
        return True
    try:
        first, own = Path("/proc/1/root/").stat(), Path("/").stat()
    except OSError:
        return False
    return place.is_board() and (first.st_dev, first.st_ino) != (own.st_dev, own.st_ino)


def mode_name() -> str | None:
    """The name of the stored mode, None where it or the file is missing."""
    try:
        tool = Tool(Options(["-q"]))
    except Failed:
        return None
    model = tool.conf.models.get(tool.stored_mode() or 0)
    return model.name if model and tool.stored_mode() is not None else None


def reboot() -> None:
    if place.is_board():
        subprocess.run(["systemctl", "reboot"], check=False)
    else:
        place.write(REBOOTED, "nvpmodel\n")


def main(words: list[str]) -> int:
    """The real tool reports most failures in words only: the exit status is the personality's, as a rule 0."""
    options = Options(words)
    try:
        Tool(options).run()
    except Failed as failed:
        print(f"NVPM ERROR: {failed}")
        return int(board.load()["nvpmodel_error_status"])
    return 0
