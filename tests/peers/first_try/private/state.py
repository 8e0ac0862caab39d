"""The state of a server: a JSON file that is read and written with each call, so that it outlives the process."""

import json
import sys
import threading
from contextlib import contextmanager
from datetime import date
from pathlib import Path

FILE = Path(sys.argv[1])
# The SDK runs tools on threads.
LOCK = threading.Lock()


@contextmanager
def state():
    """What the file holds. What a call changes in it is written, unless the call fails."""
    with LOCK:
        held = json.loads(FILE.read_text("utf-8"))
        before = json.dumps(held)
        yield held
        if (after := json.dumps(held)) != before:
            FILE.write_text(after, "utf-8")


def day(text):
    """The date of an ISO week date such as 2025-W11-3."""
    return date.fromisoformat(text)


def span(minutes):
    """Minutes as they are written here: 67 is 1h07."""
    return f"{minutes // 60}h{minutes % 60:02}"
