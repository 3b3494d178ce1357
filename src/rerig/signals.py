"""Signals, handled for a while."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def handling(numbers: tuple[signal.Signals, ...], handler: Callable[[int, Any], None]) -> Iterator[None]:
    """Handle signals with ``handler``; one that is ignored (as nohup does) stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python lets the main thread alone handle signals; it calls LocalAgent.interrupt
        return
    heeded = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    previous = {number: signal.signal(number, handler) for number in heeded}
    try:
        yield
    finally:
        for number, earlier in previous.items():
            signal.signal(number, earlier)
