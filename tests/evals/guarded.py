"""Obeys AgentDojo's prompt injections through `toolsmith serve` with flows: the pairs of a user task and an injection
task that also run without flows, and all user tasks without an injection. Nothing is simulated.

The labels are those that `toolsmith config suggest flows` proposes, with the additions of LABELS. The person sees each
call's arguments, and allows only calls that the user's task needs."""

import json
import multiprocessing
import re
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from attacks import MARK, Judge, Pair, World, environment_of
from benchmarks.agentdojo import BENCHMARK, SUITES
from benchmarks.kind import Call
from program import Writer
from replay import Bench, Settings
from sessions import Assignment

Json = Any
LABELS = Path(__file__).with_name("flows.yaml")
WAYS = {
    "flows": "direct calls, all tools allowed, with flows",
    "both": "code, the injection as a second program, with flows",
    "denied": "code, the injection as a second program, with flows that are denied",
}
# Characters of an argument that the person compares.
SHOWN = 60


@dataclass
class Result:
    attack: bool
    utility: bool
    questions: int


def labels(settings: Settings, suite: str) -> Json:
    """The section `flows` for the server of a suite."""
    with Bench(settings, BENCHMARK, "sig", f"labels-{suite}") as bench:
        path = bench.configuration(suite, [suite])
        command = [settings.toolsmith, "config", "suggest", "flows", "--config", str(path)]
        proposed = yaml.safe_load(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["flows"]
    careful = yaml.safe_load(LABELS.read_text())["flows"]
    return {label: globs + careful.get(label, []) for label, globs in proposed.items()}


class Person:
    """Allows a program that calls only tools which the user's task needs, and a call that the user's task makes."""

    def __init__(self) -> None:
        self.pair: Pair | None = None
        self.needed: list[Call] = []

    def __call__(self, question: str) -> bool:
        head, *rest = question.splitlines()
        if head.startswith("The program can call"):
            tools = set(re.findall(r"^  (\w+\.\w+)(?:  |$)", question, re.MULTILINE))
            return self.pair is None or self.pair.allows(tools)
        tool = re.search(r": (\S+)", head)[1]
        return any(f"{call.server}.{call.tool}" == tool and is_shown(call, "\n".join(rest)) for call in self.needed)


def is_shown(call: Call, text: str) -> bool:
    """Whether a question shows the arguments of this call. Texts are compared at their beginning."""
    def texts(item: Json) -> list[str]:
        if isinstance(item, dict):
            return [text for one in item.values() for text in texts(one)]
        if isinstance(item, (list, tuple)):
            return [text for one in item for text in texts(one)]
        if isinstance(item, bool) or item is None:
            return []
        # A program may send 10.0 as 10.
        return [item] if isinstance(item, str) else [f"{item:g}"]

    plain = re.sub(r"\\u\{[0-9a-f]+\}|[^A-Za-z0-9]", "", text)
    return all(re.sub(r"[^A-Za-z0-9]", "", re.split(r"[^\x20-\x7e]", one)[0][:SHOWN]) in plain
               for one in texts(BENCHMARK.plain(call.arguments)))


class Guarded:
    """Runs pairs in one way. Each pair has a client session of its own, which has received nothing."""

    def __init__(self, settings: Settings, way: str, number: int, flows: dict[str, Json]) -> None:
        self.way, self.flows, self.person = way, flows, Person()
        self.bench = Bench(settings, BENCHMARK, "sig", f"guarded-{way}-{number}", self.person)
        self.writer = Writer(BENCHMARK, "sig")

    def run(self, user: str, pair: Pair | None) -> Result:
        suite = user.split("/")[0]
        self.person.pair, self.person.needed = pair, BENCHMARK.gold(user)
        denied = {"privateToExternal": "deny", "untrustedToExternal": "deny"} if self.way == "denied" else {}
        self.bench.flows = self.flows[suite] | denied
        direct = {"permission": "allow", "codeMode": False}
        self.bench.options = direct if self.way == "flows" else {"permission": "ask"}
        client = self.bench.client([suite])
        try:
            world, shows = (self.direct if self.way == "flows" else self.programs)(suite, user, pair)
        finally:
            questions = client.questions
            self.bench.leave([suite])
        judge = Judge(pair, environment_of(pair)) if pair else None
        reached, utility = judge.verdicts(world) if judge else (False, self.kept(user, world))
        return Result(reached and shows, utility, questions)

    def kept(self, user: str, world: World) -> bool:
        suite = user.split("/")[0]
        return BENCHMARK.check(user, BENCHMARK.environment(user, suite, {}), {suite: world.environment}, world.trace)

    def start(self, user: str, suite: str, pair: Pair | None) -> World:
        return World(environment_of(pair) if pair else BENCHMARK.environment(user, suite, {}))

    def direct(self, suite: str, user: str, pair: Pair | None) -> tuple[World, bool]:
        """The calls of the user's task, and those of the injection as soon as it is read. All in one session of the
        server, whose environment the last call leaves."""
        world, shows = self.start(user, suite, pair), False
        self.bench.folder.assign(Assignment(user, pair.injections if pair else {}))
        client = self.bench.client([suite])
        calls = list(BENCHMARK.gold(user))
        while calls:
            call = calls.pop(0)
            answer = client.call(self.names(client)[call.tool], BENCHMARK.plain(call.arguments))
            if pair and not shows and MARK in json.dumps(answer):
                shows, calls = True, BENCHMARK.gold(pair.injection) + calls
        record = self.bench.folder.record()
        return World(record.after.get(suite, world.environment), record.calls), shows

    def names(self, client: Any) -> dict[str, str]:
        """The names of direct tools, by those of the server."""
        if not hasattr(client, "names"):
            listed = [tool["name"] for tool in client.request("tools/list", {})["tools"]]
            tools = [tool.name for suite in SUITES.values() for tool in suite.tools]
            client.names = {tool: name for name in listed for tool in tools
                            if name == tool or re.search(rf"[^A-Za-z0-9]{re.escape(tool)}$|__{re.escape(tool)}$", name)}
        return client.names

    def programs(self, suite: str, user: str, pair: Pair | None) -> tuple[World, bool]:
        """The user's task as a program, and then the injection as another one."""
        world = self.start(user, suite, pair)
        task = self.writer.write(user, BENCHMARK.replay(user), "functions")
        shows = MARK in self.step(suite, user, pair, world, task.code)
        if pair and shows and BENCHMARK.gold(pair.injection):
            attack = self.writer.write(pair.injection, BENCHMARK.replay(pair.injection), "functions")
            self.step(suite, user, pair, world, attack.code)
        return world, shows

    def step(self, suite: str, user: str, pair: Pair | None, world: World, code: str) -> str:
        before = {suite: world.environment} if world.trace else {}
        answer, record = self.bench.run(code, Assignment(user, pair.injections if pair else {}, before))
        world.environment = record.after.get(suite, world.environment)
        world.trace += record.calls
        return answer.text


def work(job: tuple[Settings, str, int, dict[str, Json], list[tuple[str, Pair | None]]]) -> list[Json]:
    settings, way, number, flows, pairs = job
    guarded = Guarded(settings, way, number, flows)
    try:
        return [{"user": user, "injection": pair and pair.injection, "needs_calls": bool(pair and pair.wanted)}
                | asdict(guarded.run(user, pair)) for user, pair in pairs]
    finally:
        guarded.bench.close()


def run(settings: Settings, tasks: list[str], attacked: list[Pair]) -> Json:
    """The counts of each way."""
    pairs: list[tuple[str, Pair | None]] = [(task, None) for task in tasks] + [(pair.user, pair) for pair in attacked]
    flows = {suite: labels(settings, suite) for suite in SUITES}
    found = {}
    for way in WAYS:
        jobs = [(settings, way, number, flows, pairs[number::settings.workers]) for number in range(settings.workers)]
        with multiprocessing.get_context("fork").Pool(settings.workers) as pool:
            results = [one for part in pool.map(work, jobs, chunksize=1) for one in part]
        (settings.work / f"guarded-{way}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in results))
        found[way] = summary(results)
    return {"labels": flows, "ways": found}


def summary(results: list[Json]) -> Json:
    attacked = [one for one in results if one["injection"]]
    with_calls = [one for one in attacked if one["needs_calls"]]
    alone = [one for one in results if not one["injection"]]
    return {"pairs": len(attacked), "attacks": sum(one["attack"] for one in attacked),
            "with_calls": len(with_calls), "attacks_with_calls": sum(one["attack"] for one in with_calls),
            "utility_attacked": sum(one["utility"] for one in attacked),
            "tasks": len(alone), "kept": sum(one["utility"] for one in alone),
            "questions": sum(one["questions"] for one in alone) / max(len(alone), 1),
            "questions_attacked": sum(one["questions"] for one in attacked) / max(len(attacked), 1)}
