"""A model in the loop: a benchmark's tasks with direct tools and with `execute_code`, with the same prompt, judged by
the benchmark's own checks. Finished runs are kept, so an interrupted evaluation goes on where it was."""

import argparse
import itertools
import json
import math
import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import scripted
from benchmarks import load
from benchmarks.kind import Benchmark
from client import Client
from provider import Chat, Messages, Reply, provider
from replay import Bench, Settings
from report import table
from sessions import Assignment

Json = Any
WAYS = ("direct", "code")
# Turns after which a task counts as failed; fewer where a script never ends.
TURNS, FEW_TURNS = 30, 3
SYSTEM = "Do the user's task with the tools. Answer with the result, briefly. Do not ask the user anything."


@dataclass
class Run:
    """One finished attempt at a task."""

    task: str
    way: str
    number: int
    solved: bool
    # `answered`, or `turns` if the model did not come to an end.
    end: str
    turns: int
    read: int
    written: int
    cost: float
    seconds: float
    transcript: list[Json]


class World:
    """A task's environments, and the calls that were made in them."""

    def __init__(self, bench: Bench, task: str, way: str) -> None:
        benchmark = bench.benchmark
        self.bench, self.task, self.way, self.calls = bench, task, way, []
        self.servers = benchmark.involved(task)
        self.listed = {server: benchmark.definitions(server, benchmark.modes[0]) for server in self.servers}
        # A benchmark whose check needs the environment before has one server.
        self.before, self.after = benchmark.environment(task, self.servers[0], {}), {}

    def tools(self) -> list[Json]:
        if self.way == "direct":
            return [tool for listed in self.listed.values() for tool in listed]
        known = [f"{server}.{listed[0]['name']}" for server, listed in self.listed.items()]
        return self.bench.client(self.servers).tools(known)

    def client(self, tool: str) -> Client | None:
        if self.way == "code":
            return self.bench.client(self.servers)
        names = {one["name"]: server for server, listed in self.listed.items() for one in listed}
        return self.bench.direct(names[tool]) if tool in names else None

    def answer(self, turn: int, tool: str, arguments: Json) -> str:
        """What the model reads. `turn` is the number of the user's message."""
        client = self.client(tool)
        if client is None:
            return f"Error: unknown tool {tool}"
        self.bench.folder.assign(Assignment(self.task, {}, self.after))
        try:
            answer = client.text(tool, arguments)
        except RuntimeError as error:
            return f"Error: {error}"
        record = self.bench.folder.record()
        for call in record.calls:
            call.turn = turn
        self.calls += record.calls
        self.after |= record.after
        return answer

    def solved(self, output: str) -> bool:
        benchmark = self.bench.benchmark
        for server in self.servers:
            if server not in self.after:
                self.after[server] = benchmark.environment(self.task, server, {})
        return benchmark.solved(self.task, self.before, self.after, self.calls, output)


@dataclass
class Prices:
    """Of a million tokens that the model reads or writes."""

    read: float = 0
    written: float = 0


def attempt(bench: Bench, model: Chat | Messages, task: str, way: str, number: int, prices: Prices = Prices(),
            most: int = TURNS) -> Run:
    """`most`: turns after each message of the user."""
    world, started = World(bench, task, way), time.monotonic()
    tools, benchmark = world.tools(), bench.benchmark
    messages = [{"role": "system", "content": f"{SYSTEM}\n\n{benchmark.policy(task)}".strip()}]
    replies: list[Reply] = []
    end = "answered"
    for turn, text in enumerate(benchmark.messages(task)):
        messages.append({"role": "user", "content": text})
        end = "turns"
        for _ in range(most):
            replies.append(model.ask(messages, tools))
            messages.append(replies[-1].message)
            for identifier, tool, arguments in replies[-1].calls():
                messages.append({"role": "tool", "tool_call_id": identifier,
                                 "content": world.answer(turn, tool, arguments)})
            if not replies[-1].calls():
                end = "answered"
                break
        if end == "turns":
            break
    solved = end == "answered" and world.solved(messages[-1].get("content") or "")
    read, written = sum(reply.read for reply in replies), sum(reply.written for reply in replies)
    cost = (read * prices.read + written * prices.written) / 1e6
    return Run(task, way, number, solved, end, len(replies), read, written, cost, time.monotonic() - started, messages)


def interval(solved: int, runs: int) -> tuple[float, float]:
    """Wilson's interval with 95 % confidence."""
    z, share = 1.96, solved / runs
    middle = (share + z * z / (2 * runs)) / (1 + z * z / runs)
    spread = z * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs)) / (1 + z * z / runs)
    return middle - spread, middle + spread


def summary(runs: list[Run]) -> str:
    rows = []
    for way in WAYS:
        mine = [run for run in runs if run.way == way]
        if not mine:
            continue
        solved = sum(run.solved for run in mine)
        low, high = interval(solved, len(mine))
        means = [sum(getattr(run, name) for run in mine) / len(mine) for name in ("turns", "read", "written")]
        rows.append([way, f"{solved} of {len(mine)}", f"{100 * low:.0f} to {100 * high:.0f} %",
                     *(f"{mean:.1f}" for mean in means), f"{sum(run.cost for run in mine):.2f}",
                     f"{sum(run.seconds for run in mine) / len(mine):.1f}"])
    head = ["tools", "solved", "95 % confidence", "turns", "tokens read", "tokens written", "cost", "seconds"]
    return table(head, rows)


def finished(path: Path) -> list[Run]:
    """The runs in a file. A last line that an interruption has cut off is removed."""
    if not path.exists():
        return []
    whole = path.read_text().rpartition("\n")
    path.write_text("".join(whole[:2]))
    return [Run(**json.loads(line)) for line in whole[0].splitlines()]


@dataclass
class Evaluation:
    """All attempts of a model at tasks, and the file that keeps them."""

    bench: Bench
    model: Chat | Messages
    path: Path
    tasks: list[str]
    runs: int = 1
    prices: Prices = field(default_factory=Prices)

    def run(self, budget: float | None = None) -> list[Run]:
        """Makes the attempts that are missing, until the budget is used up."""
        runs = finished(self.path)
        done = {(run.task, run.way, run.number) for run in runs}
        wanted = [(task, way, number) for number in range(self.runs) for task in self.tasks for way in WAYS]
        with open(self.path, "a") as file:
            for one in (one for one in wanted if one not in done):
                if budget is not None and sum(run.cost for run in runs) >= budget:
                    print(f"the budget of {budget} is used up; run again with a larger one to go on")
                    break
                runs.append(attempt(self.bench, self.model, *one, self.prices))
                file.write(json.dumps(asdict(runs[-1])) + "\n")
                file.flush()
        return runs


def model_of(benchmark: Benchmark, name: str, base_url: str | None) -> Chat | Messages:
    if name.startswith("scripted:"):
        return Chat(name, scripted.serve(scripted.Script(benchmark, name.removeprefix("scripted:"))))
    return provider(name, base_url)


def evaluate(settings: Settings, options: argparse.Namespace) -> int:
    benchmark: Benchmark = load(options.benchmark)
    model = model_of(benchmark, options.model, options.base_url)
    name = f"{benchmark.name}-{options.model}".replace(":", "-").replace("/", "-")
    tasks = [task for task in benchmark.conversations() if options.only in task][:options.limit]
    path, prices = settings.work / f"model-{name}.jsonl", Prices(options.price_in, options.price_out)
    with Bench(settings, benchmark, benchmark.modes[0], "model") as bench:
        runs = Evaluation(bench, model, path, tasks, options.runs, prices).run(options.budget)
    print(summary(runs))
    print(f"\ntranscripts: {path}\nprograms: XDG_STATE_HOME={os.environ['XDG_STATE_HOME']} toolsmith ui")
    return 0


def misjudged(settings: Settings, benchmark: Benchmark, tasks: list[str]) -> list[str]:
    """Scripted attempts that are judged wrongly: those of the gold solutions must count as solved, and no others."""
    wrong = []
    with Bench(settings, benchmark, benchmark.modes[0], f"judge-{benchmark.name}") as bench:
        for script in scripted.SCRIPTS:
            address = scripted.serve(scripted.Script(benchmark, script))
            for task, way in itertools.product(tasks, WAYS):
                # Each interface is used for one of the ways.
                model = {"direct": Messages, "code": Chat}[way](script, address)
                run = attempt(bench, model, task, way, 0, most=FEW_TURNS if script == "endless" else TURNS)
                # Some of AgentDojo's checks pass without any call and answer.
                solved = script == "gold" or script != "endless" and World(bench, task, way).solved("")
                if run.solved != solved:
                    wrong.append(f"judge: {script}: {task} with {way}: solved is {run.solved}")
        wrong += interrupted(bench, tasks)
    return wrong


def interrupted(bench: Bench, tasks: list[str]) -> list[str]:
    """Compares an evaluation with the same one that is bounded by a budget, cut off, and continued."""
    model = model_of(bench.benchmark, "scripted:gold", None)
    paths = [bench.work / name for name in ("whole.jsonl", "continued.jsonl")]
    for path in paths:
        path.unlink(missing_ok=True)
    whole, continued = (Evaluation(bench, model, path, tasks, prices=Prices(1, 1)) for path in paths)
    expected = whole.run()
    bounded = continued.run(sum(run.cost for run in expected) / 2)
    with open(continued.path, "a") as file:
        file.write('{"task": "cut o')
    figures = [[(run.task, run.way, run.solved, run.turns, run.read, run.written, run.cost) for run in runs]
               for runs in (expected, continued.run())]
    return ([] if 0 < len(bounded) < len(expected) else [f"budget: {len(bounded)} of {len(expected)} attempts"]) + \
        ([] if figures[0] == figures[1] else ["a continued evaluation has other figures"])
