"""Tokens of a task with direct calls and with programs, as a model reads and writes them in whole conversations.

A conversation begins with the definitions and the user's messages. Each turn of the model adds what the model writes
and the answer to it, and makes the model read everything again."""

import statistics
from dataclasses import asdict, dataclass
from typing import Any

import tokens
from benchmarks.kind import Benchmark
from replay import ALL, Bench, Row
from rust import snake

Json = Any
# Prices of a token of a prompt, relative to one without a cache: to write it to the cache, and to read it.
WRITE, READ = 1.25, 0.1
# Room for the names of servers, in tokens.
NAMES = 500


@dataclass
class Cost:
    """One conversation, or the mean of several, in tokens."""

    # What the model has read before its first turn.
    definitions: float
    # The sum over all turns.
    read: float
    # The same with a cache: each token is written once and read in later turns, at their prices.
    read_cached: float
    # The size of the last turn's prompt.
    context: float
    written: float
    turns: float


def conversation(definitions: int, prompt: int, turns: list[tuple[int, int]]) -> Cost:
    """`turns`: what the model writes, and the answer. A last turn with the answer to the user follows; its text is the
    same in all conversations and is left out."""
    context = definitions + prompt
    read, cached = context, context * WRITE
    for written, answer in turns:
        cached += context * READ + (written + answer) * WRITE
        context += written + answer
        read += context
    return Cost(definitions, read, cached, context, sum(written for written, _ in turns), len(turns) + 1)


def mean(costs: list[Cost]) -> Cost:
    rows = [asdict(cost) for cost in costs]
    return Cost(**{name: round(statistics.mean(row[name] for row in rows), 2) for name in rows[0]})


class Definitions:
    """What clients send to their models, for a set of servers."""

    def __init__(self, bench: Bench, servers: list[str], mode: str) -> None:
        tools = [tool for server in servers for tool in bench.benchmark.definitions(server, mode)]
        self.direct = {tool["name"]: tokens.count({key: tool[key] for key in ("name", "description", "inputSchema")})
                       for tool in tools}
        known = [f"{server}.{bench.benchmark.definitions(server, mode)[0]['name']}" for server in servers]
        self.names = tokens.count("\n".join(self.direct))
        whole = bench.open("whole", servers, ALL)
        listed = whole.tools(known)
        self.whole = tokens.count(listed)
        # A client without a longer limit gets shorter descriptions for many tools, and asks for signatures.
        self.complete = all(f"{snake(name)}(" in listed[0]["description"] for name in self.direct)
        whole.close()
        self.client = bench.open("short", servers, NAMES)
        self.short = tokens.count(self.client.tools(known))

    def described(self, tools: list[str]) -> tuple[int, int]:
        """A request for the signatures of these tools, and the answer."""
        request = {"name": "describe_tools", "arguments": {"tools": tools}}
        return tokens.count(request), tokens.count(self.client.described(tools))

    def searched(self, names: list[str]) -> tuple[int, int]:
        """A request for the definitions of these tools, as clients defer them, and the answer."""
        request = {"name": "search", "arguments": {"tools": names}}
        return tokens.count(request), sum(self.direct[name] for name in names)


def costs_of(definitions: Definitions, prompt: int, whole: Row, brief: Row | None) -> dict[str, Cost]:
    """The conversations of one task."""
    names = list(dict.fromkeys(call["tool"] for call in whole.calls))
    tools = list(dict.fromkeys(f"{call['server']}.{call['tool']}" for call in whole.calls))
    calls = list(zip(whole.tokens["calls"], whole.tokens["results"]))
    found = {
        "direct": conversation(sum(definitions.direct.values()), prompt, calls),
        "direct, deferred": conversation(definitions.names, prompt, [definitions.searched(names), *calls])}
    programs = {"whole answers": list(zip(whole.tokens["snippets"], whole.tokens["answers"]))}
    if brief:
        programs["needed answers"] = list(zip(brief.tokens["snippets"], brief.tokens["answers"]))
    for name, turns in programs.items():
        asked = [definitions.described(tools), *turns]
        found[f"code, {name}"] = conversation(definitions.whole, prompt, turns if definitions.complete else asked)
        found[f"code, deferred, {name}"] = conversation(definitions.short, prompt, asked)
    return found


def measure(bench: Bench, mode: str, whole: list[Row], brief: list[Row]) -> list[Json]:
    """Means for each set of servers that a benchmark offers to its tasks; BFCL's many sets are one."""
    benchmark: Benchmark = bench.benchmark
    short = {row.task: row for row in brief}
    opened: dict[tuple[str, ...], Definitions] = {}
    found: dict[str, list[dict[str, Cost]]] = {}
    for row in whole:
        servers = tuple(benchmark.involved(row.task))
        if servers not in opened:
            opened[servers] = Definitions(bench, list(servers), mode)
        if row.calls:
            prompt = tokens.count(benchmark.prompt(row.task))
            costs = costs_of(opened[servers], prompt, row, short.get(row.task))
            costs["tools"] = len(opened[servers].direct)
            found.setdefault(benchmark.part(row.task), []).append(costs)
    for definitions in opened.values():
        definitions.client.close()
    return [summary(benchmark.name, part, rows) for part, rows in found.items()]


def summary(benchmark: str, part: str, rows: list[Json]) -> Json:
    ways = [way for way in rows[0] if way != "tools"]
    return {"benchmark": benchmark, "part": part, "tasks": len(rows),
            "tools": round(statistics.mean(row["tools"] for row in rows), 1),
            "ways": {way: asdict(mean([row[way] for row in rows])) for way in ways}}
