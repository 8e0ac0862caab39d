"""Other implementations of code mode, and direct calls: the gold solutions in the language of each, run over the same
servers, and compared with the benchmark's own replay. The programs that start them are in tests/peers/bench."""

import json
import os
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Callable

import tokens
from benchmarks.kind import Benchmark, Call, Gold
from client import Client, text_of
from comparison import HARMLESS, differences
from economy import Cost, Definitions, conversation, costs_of, mean
from replay import Bench, Row, Settings
from sessions import Assignment

Json = Any
# The name of the only server in the programs that start peers.
SERVER = "upstream"
# One exchange of a conversation: what the model writes, and the answer, in tokens.
Turn = tuple[int, int]


def python(calls: list[Call]) -> str:
    lines = [f"r{number} = await call_tool({call.tool!r}, {call.arguments!r})" for number, call in enumerate(calls, 1)]
    return "\n".join([*lines, f"return [{names(calls)}]"])


def javascript(calls: list[Call], prefix: str, wait: str) -> str:
    lines = [f"const r{number} = {wait}{prefix}{call.tool}({json.dumps(call.arguments, ensure_ascii=False)});"
             for number, call in enumerate(calls, 1)]
    return "\n".join([*lines, f"return [{names(calls)}];"])


def names(calls: list[Call]) -> str:
    return ", ".join(f"r{number}" for number in range(1, len(calls) + 1))


def parsed(result: Json) -> Json:
    return json.loads(text_of(result))


@dataclass
class Peer:
    """One implementation: how it is started, how a program is written for it, and how its answer is read."""

    name: str
    command: Callable[[Path], list[str]]
    # The tool that takes programs.
    tool: str
    write: Callable[[list[Call]], str]
    read: Callable[[Json], Json]
    # The requests by which a model learns the signatures of these tools, for a task with this prompt.
    asks: Callable[[str, list[str]], list[tuple[str, Json]]]
    # The schemas of the servers' tools.
    mode: str = "sig"


def node(packages: Path, program: str) -> list[str]:
    return [str(packages / "node_modules/.bin/node"), str(packages / "programs" / program)]


PEERS = [
    Peer("FastMCP", lambda packages: [str(packages / "venv/bin/python"),
                                      str(packages / "programs/fastmcp_code_mode.py")],
         "execute", python, parsed,
         lambda prompt, wanted: [("search", {"query": prompt}), ("get_schema", {"tools": wanted})]),
    *(Peer(name, lambda packages: node(packages, "utcp.mjs"), "call_tool_chain",
           lambda calls: javascript(calls, f"bench.{SERVER}_", ""), lambda result: parsed(result)["result"],
           lambda prompt, wanted: [("call_tool_chain", {"code": "return __interfaces;"})], mode)
      for name, mode in (("UTCP", "sig"), ("UTCP without output schemas", "plain"))),
    Peer("Cloudflare", lambda packages: node(packages, "cloudflare/host.mjs"), "code",
         lambda calls: "async () => {\n" + javascript(calls, "codemode.", "await ") + "\n}", parsed,
         lambda prompt, wanted: []),
]


@dataclass
class Result:
    """One task: what differs from the benchmark's own replay."""

    task: str
    state: bool
    arguments: bool
    # Whether the program gets all results as the servers sent them.
    results: bool
    error: str
    seconds: float


class PeerBench(Bench):
    """Servers of a benchmark behind one peer per group."""

    def __init__(self, settings: Settings, benchmark: Benchmark, peer: Peer | None, packages: Path) -> None:
        self.mode = peer.mode if peer else "sig"
        super().__init__(settings, benchmark, self.mode, f"peer-{peer.name if peer else 'direct'}")
        self.peer, self.packages = peer, packages

    def open(self, name: str, servers: list[str], description: int) -> Client:
        entry = self.factory.command(servers[0])
        upstream = json.dumps({"command": entry["command"], "args": entry["args"]})
        return Client(["env", f"UPSTREAM={upstream}", *self.peer.command(self.packages)], self.work / f"{name}.log")

    def client(self, group: list[str]) -> Client:
        return super().client(group) if self.peer else self.direct(group[0])

    def close(self) -> None:
        """Not every peer ends with its standard input."""
        for client in self.clients.values():
            client.process.kill()
        super().close()

    def made(self, task: str, calls: list[Call]) -> tuple[list[Json], str, float, list[Turn]]:
        """Makes the calls of a task; returns their results, the error, the seconds and the turns."""
        client, started = self.client([task.split("/")[0]]), time.monotonic()
        self.folder.assign(Assignment(task))
        if not self.peer:
            answers = [client.call(call.tool, call.arguments) for call in calls]
            seconds = time.monotonic() - started
            turns = [(tokens.count({"name": call.tool, "arguments": call.arguments}), tokens.count(text_of(answer)))
                     for call, answer in zip(calls, answers)]
            return [answer.get("structuredContent", text_of(answer)) for answer in answers], "", seconds, turns
        arguments = {"code": self.peer.write(calls)}
        answer = client.call(self.peer.tool, arguments)
        seconds = time.monotonic() - started
        turn = (tokens.count({"name": self.peer.tool, "arguments": arguments}), tokens.count(text_of(answer)))
        try:
            results = self.peer.read(answer)
        except (KeyError, TypeError, ValueError):
            results = None
        if isinstance(results, list):
            return results, "", seconds, [turn]
        return [], text_of(answer)[:500], seconds, [turn]


def judged(bench: PeerBench, task: str) -> tuple[Result, list[Turn]]:
    benchmark, gold, calls = bench.benchmark, bench.benchmark.replay(task), bench.benchmark.gold(task)
    got, error, seconds, turns = bench.made(task, calls)
    record = bench.folder.record()
    for server in gold.after:
        record.after.setdefault(server, gold.before)
    state = all(not benchmark.state_differences(gold.after[server], record.after[server]) for server in gold.after)
    received = [[[call.server, call.tool, benchmark.received(call)] for call in one] for one in (calls, record.calls)]
    results = results_are(bench, calls, gold, got)
    return Result(task, state, same(*received), results, error, seconds), turns


def same(expected: Json, got: Json) -> bool:
    return all(one.kind in HARMLESS for one in differences(expected, got))


def results_are(bench: PeerBench, calls: list[Call], gold: Gold, got: list[Json]) -> bool:
    """Also without the object that the MCP SDK puts around results that are none."""
    if len(calls) != len(got):
        return False
    for call, raw, mine in zip(calls, gold.results, got):
        wanted = bench.benchmark.expected(call, raw, bench.mode)
        bare = wanted.get("result") if isinstance(wanted, dict) and list(wanted) == ["result"] else wanted
        if not same(wanted, mine) and not same(bare, mine):
            return False
    return True


def costs(bench: PeerBench, task: str, turns: list[Turn], known: dict[str, int]) -> Cost:
    """The conversation of a task, from the definitions that the peer lists."""
    benchmark, group = bench.benchmark, task.split("/")[0]
    client = bench.client([group])
    if group not in known:
        listed = client.request("tools/list", {})["tools"]
        known[group] = tokens.count([{key: tool.get(key, "") for key in ("name", "description", "inputSchema")}
                                     for tool in listed])
    prompt = benchmark.prompt(task)
    wanted = list(dict.fromkeys(call.tool for call in benchmark.gold(task)))
    asked = []
    for name, arguments in bench.peer.asks(prompt, wanted) if bench.peer else []:
        request = {"name": name, "arguments": arguments}
        asked.append((tokens.count(request), tokens.count(text_of(client.call(name, arguments)))))
    return conversation(known[group], tokens.count(prompt), [*asked, *turns])


def measure(settings: Settings, benchmark: Benchmark, peer: Peer | None, packages: Path,
            tasks: list[str]) -> tuple[Json, float]:
    """What a peer reaches, and the milliseconds of a task, of which the median counts."""
    results, spent, known = [], [], {}
    with PeerBench(settings, benchmark, peer, packages) as bench:
        # The first call of a session also starts it.
        for task in {task.split("/")[0]: task for task in tasks}.values():
            judged(bench, task)
        for task in tasks:
            result, turns = judged(bench, task)
            results.append(result)
            spent.append(costs(bench, task, turns, known))
    records = settings.work / f"peer-{peer.name if peer else 'direct'}.jsonl"
    records.write_text("".join(json.dumps(asdict(result)) + "\n" for result in results))
    return summary(peer.name if peer else "direct calls", results, spent), 1000 * statistics.median(
        result.seconds for result in results)


def summary(name: str, results: list[Result], spent: list[Cost]) -> Json:
    return {"name": name, "tasks": len(results), "states": sum(result.state for result in results),
            "arguments": sum(result.arguments for result in results),
            "results": sum(result.results for result in results),
            "not": [result.task for result in results if not (result.state and result.arguments and result.results)],
            "cost": asdict(mean(spent))}


def own(settings: Settings, benchmark: Benchmark, rows: list[Row]) -> list[tuple[Json, float]]:
    """The same of Toolsmith's replays, with all signatures in the description and with deferred ones."""
    definitions: dict[str, Definitions] = {}
    ways = {"code, whole answers": "Toolsmith", "code, deferred, whole answers": "Toolsmith, deferred"}
    results, spent = [], {way: [] for way in ways}
    with Bench(settings, benchmark, "sig", "peer-own") as bench:
        for row in rows:
            group = row.task.split("/")[0]
            if group not in definitions:
                definitions[group] = Definitions(bench, [group], "sig")
            prompt = tokens.count(benchmark.prompt(row.task))
            conversations = costs_of(definitions[group], prompt, row, None)
            for way in ways:
                spent[way].append(conversations[way])
            equal = [name not in row.failures for name in ("state", "arguments", "results")]
            results.append(Result(row.task, *equal, row.error, row.seconds))
        for one in definitions.values():
            one.client.close()
    milliseconds = 1000 * statistics.median(row.seconds for row in rows)
    return [(summary(name, results, spent[way]), milliseconds) for way, name in ways.items()]


def run(settings: Settings, benchmark: Benchmark, rows: list[Row]) -> tuple[list[Json], dict[str, float]]:
    """All peers on the tasks of Toolsmith's replay: what they reach, and their milliseconds."""
    packages = Path(os.environ["EVALS_PEERS"])
    tasks = [row.task for row in rows]
    found = own(settings, benchmark, rows)
    found += [measure(settings, benchmark, peer, packages, tasks) for peer in [None, *PEERS]]
    return [one for one, _ in found], {one["name"]: round(time, 1) for one, time in found}
