"""Starts a run that goes on by itself, and waits until it has begun."""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from . import VERSION
from .begin import AlreadyThere, abandon, begin
from .child import StopFlag
from .detach import detach, open_descriptors
from .exits import EXIT_BUG, EXIT_KILLED, Refused, complain, explain
from .journal import read_journal
from .progress import PROGRESS_NAME, ProgressFile
from .run import Run
from .sessions import session_file, split_sessions
from .status import LOG_NAME, NoRun, RunLook, look, print_status

BEGIN_LIMIT_S = 100.0  # what earlier runs left on a mount that hangs is given up after a while
POLL_S = 0.05
TRIES = 3


def start(plan: dict[str, Any] | None, run_dir: Path) -> int:
    """Start a run of ``plan``, or (None) resume the one in ``run_dir``; print how it is.

    To start what goes on or is complete already changes nothing. Raises Refused, OSError.
    """
    for _ in range(TRIES):
        inherited = open_descriptors()
        stop = StopFlag()
        try:
            run = begin(plan, run_dir, stop, ProgressFile(run_dir / PROGRESS_NAME))
        except AlreadyThere:
            found = _wait_for_another(run_dir)
            if found is not None and found.state in ("running", "ended"):
                return print_status(found)
            continue  # whoever was about to begin it has failed, or has only undone what it left
        return _launch(run, run_dir, stop, inherited)
    raise Refused("The run does not begin.", EXIT_KILLED)


def _launch(run: Run, run_dir: Path, stop: StopFlag, inherited: set[int]) -> int:
    number = len(split_sessions(read_journal(run_dir))) + 1
    try:
        reader = detach(lambda writer: _measure(run, stop, writer), run_dir / session_file(LOG_NAME, number), inherited)
    finally:
        run.close()  # the other process has its own hold on the lock
    try:
        failure = _wait_for_begin(run_dir, number, reader)
    finally:
        os.close(reader)
    if failure is None:
        return print_status(look(run_dir))
    abandon(run_dir)
    complain(failure[1])
    return failure[0]


def _measure(run: Run, stop: StopFlag, writer: int) -> int:
    """The whole life of the detached process: a session; why it failed goes into its log and the pipe."""
    stop.install()
    # A log that has its first block can take a last sentence when the disk is full; if it is full already, so be it.
    with contextlib.suppress(OSError):
        print("rerig-agent", VERSION, file=sys.stderr, flush=True)
    try:
        return run.execute()
    except Exception as error:  # noqa: BLE001 - nobody is left who could handle it
        status, sentence = explain(error)
        if status == EXIT_BUG:
            traceback.print_exc()
        complain(sentence)
        with contextlib.suppress(OSError):
            os.write(writer, json.dumps([status, sentence]).encode("ascii"))
        return status


def _wait_for_begin(run_dir: Path, number: int, reader: int) -> tuple[int, str] | None:
    """None as soon as session ``number`` is journalled, else the status and the sentence of its failure."""
    poller = select.poll()
    poller.register(reader, select.POLLIN | select.POLLHUP)
    deadline = time.monotonic() + BEGIN_LIMIT_S
    is_over = False
    while not is_over and time.monotonic() < deadline:
        is_over = bool(poller.poll(POLL_S * 1000))
        if len(split_sessions(read_journal(run_dir))) >= number:
            return None
    if not is_over:
        return None  # it is still about to begin, and whoever follows it will see
    said = b""
    while True:
        piece = os.read(reader, 65536)
        if not piece:
            break
        said += piece
    if not said:
        return EXIT_KILLED, "The run was killed before it had begun."
    status, sentence = json.loads(said)
    return int(status), str(sentence)


def _wait_for_another(run_dir: Path) -> RunLook | None:
    """How the run is once the session that somebody else begins is journalled, or that has failed; None: it is gone."""
    deadline = time.monotonic() + BEGIN_LIMIT_S
    while True:
        try:
            found = look(run_dir)
        except NoRun:
            return None
        if not found.running or found.pid() is not None or time.monotonic() > deadline:
            return found
        time.sleep(POLL_S)
