"""Faults that are expected, each with its reason: exceptions.json. Another fault fails the run, and so does an
exception that no longer occurs."""

import fnmatch
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from replay import Plan, Row


@dataclass
class Expected:
    """Tasks of which a replay differs in the named ways: by their names, or by the error of the program."""

    replays: list[str]
    # See `replay.judge`.
    failures: list[str]
    # `benchmark`: its gold solution or its tools contradict themselves; `product`: a limit of Toolsmith.
    fault: str
    reason: str
    # Patterns of names.
    tasks: list[str] = field(default_factory=lambda: ["*"])
    # A regular expression that occurs in the error.
    error: str = ""
    used: set[str] = field(default_factory=set)

    def applies(self, plan: Plan, row: Row) -> bool:
        return any(fnmatch.fnmatch(plan.name, one) for one in self.replays) and \
            any(fnmatch.fnmatch(row.task, one) for one in self.tasks) and \
            re.search(self.error, row.error) is not None


class Exceptions:
    def __init__(self, path: Path) -> None:
        self.all = [Expected(**one) for one in json.loads(path.read_text())]

    def explain(self, plan: Plan, row: Row) -> tuple[set[str], str]:
        """The failures of a row that nothing explains, and whose fault the explained ones are."""
        left, faults = set(row.failures), set()
        for one in self.all:
            if one.applies(plan, row) and left.intersection(one.failures):
                left.difference_update(one.failures)
                one.used.add(plan.name)
                faults.add(one.fault)
        return left, " and ".join(sorted(faults))

    def stale(self, plans: list[Plan]) -> list[Expected]:
        """Exceptions for these replays that did not occur in any of them."""
        names = [plan.name for plan in plans]
        return [one for one in self.all if not one.used and
                any(fnmatch.fnmatch(name, pattern) for name in names for pattern in one.replays)]
