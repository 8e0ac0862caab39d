"""Runs gold solutions through `toolsmith serve`, and compares each with the benchmark's own replay."""

import json
import multiprocessing
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Iterator

import tokens
from benchmarks.kind import Benchmark, Call, Failed, Gold
from client import Answer, Client, Person
from comparison import HARMLESS, Difference, differences
from program import Program, Writer
from sessions import Assignment, Factory, Folder, Record

Json = Any
# Room for the signatures of all tools, in tokens.
ALL = 200_000


@dataclass
class Settings:
    """What all replays have in common."""

    toolsmith: str
    work: Path
    workers: int


@dataclass
class Plan:
    """One replay: a benchmark's tasks in one mode and one form."""

    benchmark: str
    mode: str
    form: str
    # `user` or `injection`.
    kind: str = "user"
    # All tasks, or those with different gold solutions.
    whole: bool = False

    @property
    def name(self) -> str:
        return "-".join([self.benchmark, self.mode, self.form] + (["injection"] if self.kind != "user" else []))


@dataclass
class Row:
    """One task: the differences from the benchmark's own replay, and tokens."""

    task: str
    code: str
    status: str
    error: str
    # Names of what differs, each with details: see `judge`.
    failures: dict[str, list[Json]]
    # Differences that lose nothing.
    harmless: int
    manifest: list[str]
    corrections: list[Json]
    accesses: int
    calls: list[Json]
    # The snippets, the answers that the model reads, and the direct calls and their results, in o200k tokens.
    tokens: dict[str, Json]
    seconds: float


class Bench:
    """Servers of a benchmark behind one `toolsmith serve` per group, for one task at a time."""

    def __init__(self, settings: Settings, benchmark: Benchmark, mode: str, name: str,
                 person: Person | None = None) -> None:
        self.settings, self.benchmark, self.person = settings, benchmark, person
        # Settings of the servers in Toolsmith's configuration, and the section `flows`.
        self.options, self.flows = benchmark.options(mode), {}
        self.work = settings.work / name
        self.work.mkdir(parents=True, exist_ok=True)
        self.folder = Folder(self.work / "sessions")
        # A short path, because addresses of sockets have at most 108 bytes.
        self.private = tempfile.TemporaryDirectory(prefix="evals-")
        self.factory = Factory(benchmark, mode, self.folder, Path(self.private.name) / "socket")
        self.clients: dict[str, Client] = {}

    def open(self, name: str, servers: list[str], description: int) -> Client:
        """A session of `serve` whose answers are never cut. `description`: most tokens of the tools' descriptions."""
        command = [self.settings.toolsmith, "serve", "--config", str(self.configuration(name, servers, description))]
        command += [] if self.person else ["--allow", "*"]
        return Client(command, self.work / f"{name}.log", self.person)

    def configuration(self, name: str, servers: list[str], description: int = ALL) -> Path:
        path = self.work / f"{name}.json"
        path.write_text(json.dumps({
            "serve": {"output": "16MiB", "descriptionTokens": description}, "flows": self.flows,
            "mcpServers": {server: self.factory.command(server) | self.options for server in servers}}))
        return path

    def leave(self, group: list[str]) -> None:
        """Ends the session of a client. The next one has received nothing."""
        self.clients.pop("-".join(group)).close()

    def client(self, group: list[str]) -> Client:
        name = "-".join(group)
        if name not in self.clients:
            self.clients[name] = self.open(name, group, ALL)
        return self.clients[name]

    def direct(self, server: str) -> Client:
        """A session with a server itself."""
        name = f"direct {server}"
        if name not in self.clients:
            entry = self.factory.command(server)
            self.clients[name] = Client([entry["command"], *entry["args"]], self.work / f"{name}.log")
        return self.clients[name]

    def run(self, code: str, assignment: Assignment) -> tuple[Answer, Record]:
        self.folder.assign(assignment)
        answer = self.client(self.benchmark.group(assignment.task)).run(code)
        return answer, self.folder.record()

    def close(self) -> None:
        for client in self.clients.values():
            client.close()
        self.factory.end()
        self.private.cleanup()

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def replay(settings: Settings, benchmark: Benchmark, plan: Plan, limit: int | None) -> list[Row]:
    """Rows in the order of the tasks. The workers are processes, because each has sessions for one task at a time."""
    tasks = benchmark.tasks(plan.kind) if plan.whole or plan.kind != "user" else benchmark.distinct()
    tasks = tasks[:limit]
    context = multiprocessing.get_context("fork")
    queue, workers = context.Queue(), []
    for number in range(min(settings.workers, len(tasks))):
        mine = tasks[number::settings.workers]
        workers.append(context.Process(target=work, args=(settings, benchmark, plan, number, mine, queue)))
        workers[-1].start()
    rows = dict(receive(queue, workers, len(tasks)))
    for worker in workers:
        worker.join()
    return [rows[task] for task in tasks]


def receive(queue: Any, workers: list[Any], number: int) -> Iterator[tuple[str, Row]]:
    for _ in range(number):
        row = queue.get()
        if isinstance(row, str):
            for worker in workers:
                worker.terminate()
            raise RuntimeError(row)
        yield row.task, row


def work(settings: Settings, benchmark: Benchmark, plan: Plan, number: int, tasks: list[str], queue: Any) -> None:
    try:
        writer = Writer(benchmark, plan.mode)
        with Bench(settings, benchmark, plan.mode, f"{plan.name}-{number}") as bench:
            for task in tasks:
                queue.put(row_of(bench, writer, plan, task))
    except BaseException as error:
        queue.put(f"{plan.name}: {type(error).__name__}: {error}")
        raise


def row_of(bench: Bench, writer: Writer, plan: Plan, task: str) -> Row:
    gold = bench.benchmark.replay(task)
    program = writer.write(task, gold, plan.form)
    started = time.monotonic()
    answer, record = bench.run(program.code, Assignment(task))
    seconds = time.monotonic() - started
    outcome, benchmark = answer.outcome, bench.benchmark
    calls = benchmark.gold(task)
    for server in gold.after:
        if server not in record.after:
            record.after[server] = benchmark.environment(task, server, {})
    failures, harmless = judge(benchmark, plan, task, gold, program, outcome, record)
    return Row(
        task, program.code, outcome["status"], (outcome["error"] or {}).get("message", ""), failures, harmless,
        outcome["manifest"], outcome["fixes"], program.accesses, [asdict(call) for call in calls],
        tokens_of(program, answer, calls), seconds)


def judge(benchmark: Benchmark, plan: Plan, task: str, gold: Gold, program: Program, outcome: Json,
          record: Record) -> tuple[dict[str, list[Json]], int]:
    """What differs: `schema` (the gold solution does not fit its tool's schema), `status`, `arguments`, `results`,
    `state`, and `check` (the benchmark passes its own replay and not ours)."""
    found: dict[str, list[Any]] = {"schema": program.faults, "results": []}
    if outcome["status"] != "ok":
        found["status"] = [outcome["status"], (outcome["error"] or {}).get("message", "")]
    elif plan.form != "brief":
        found["results"] = results_of(program.expected, outcome["result"])
    found["arguments"] = differences(*([[call.server, call.tool, benchmark.received(call)] for call in calls]
                                       for calls in (benchmark.gold(task), record.calls)))
    found["state"] = [one for server in gold.after
                      for one in benchmark.state_differences(gold.after[server], record.after[server])]
    if benchmark.check(task, gold.before, gold.after, benchmark.gold(task)) and \
            not benchmark.check(task, gold.before, record.after, record.calls):
        found["check"] = ["not passed"]
    everything = [one for details in found.values() for one in details]
    harmless = [one for one in everything if isinstance(one, Difference) and one.kind in HARMLESS]
    kept = {name: [one for one in details if one not in harmless] for name, details in found.items()}
    return {name: details for name, details in kept.items() if details}, len(harmless)


def results_of(expected: list[Json | Failed], got: list[Json]) -> list[Difference]:
    if len(expected) != len(got):
        return [Difference("", "length", len(expected), len(got))]
    found = []
    for number, (wanted, mine) in enumerate(zip(expected, got)):
        if not isinstance(wanted, Failed):
            found += differences(wanted, mine["Ok"] if isinstance(mine, dict) and list(mine) == ["Ok"] else mine,
                                 f"[{number}]")
        elif not (isinstance(mine, dict) and list(mine) == ["Err"]):
            found.append(Difference(f"[{number}]", "no error", wanted.error, mine))
    return found


def tokens_of(program: Program, answer: Answer, calls: list[Call]) -> dict[str, Json]:
    """A benchmark with several messages of the user has one snippet and one answer for each."""
    results = [one.error if isinstance(one, Failed) else one for one in program.expected]
    turns: dict[int, list[int]] = {}
    for number, call in enumerate(calls):
        turns.setdefault(call.turn, []).append(number)
    snippets, answers = [program.code], [answer.text]
    if len(turns) > 1:
        snippets = [program.part(numbers) for numbers in turns.values()]
        answers = [[results[number] for number in numbers] for numbers in turns.values()]
    return {
        "snippets": list(map(tokens.count, snippets)), "answers": list(map(tokens.count, answers)),
        "calls": [tokens.count({"name": call.tool, "arguments": call.arguments}) for call in calls],
        "results": list(map(tokens.count, results))}
