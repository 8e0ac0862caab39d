"""Stores a server's state in a JSON file, which each call reads and writes, so that the state outlives the process."""

import json
import sys
import threading
from contextlib import contextmanager
from datetime import date
from pathlib import Path

FILE = Path(sys.argv[1])
# The SDK runs tools on several threads.
LOCK = threading.Lock()


@contextmanager
def state():
    """Yields the file's content; writes it back if the call changed it and did not fail."""
    with LOCK:
        held = json.loads(FILE.read_text("utf-8"))
        before = json.dumps(held)
        yield held
        if (after := json.dumps(held)) != before:
            FILE.write_text(after, "utf-8")


def day(text):
    """Parses an ISO week date such as 2025-W11-3."""
    return date.fromisoformat(text)


def span(minutes):
    """Formats minutes as hours and minutes: 67 is 1h07."""
    return f"{minutes // 60}h{minutes % 60:02}"
