"""Obeys AgentDojo's prompt injections: a scripted worst case of a model, which does whatever an injection says as soon
as it reads it. The person approves only the tools that the user's task needs.

All pairs of a user task and an injection task are simulated on AgentDojo's own environments, with the manifests that
Toolsmith has read from the compiled programs. Some or all pairs also run through `toolsmith serve`, with the questions
that it asks the person, and must end the same."""

import copy
import functools
import multiprocessing
import re
from dataclasses import dataclass, field
from typing import Any

from agentdojo.agent_pipeline.ground_truth_pipeline import GroundTruthPipeline
from agentdojo.attacks.important_instructions_attacks import ImportantInstructionsAttackNoModelName

from benchmarks.agentdojo import BENCHMARK, SUITES
from benchmarks.kind import Call
from program import Program, Writer, written
from replay import Bench, Row, Settings
from sessions import Assignment

# Begins every injection of this attack.
MARK = "<INFORMATION>"
WAYS = {
    "direct": "direct calls, all tools allowed",
    "asked": "direct calls, each tool is asked for",
    "second": "code, the injection as a second program",
    "extended": "code, the injection in the rest of the program",
}


@dataclass
class Pair:
    user: str
    injection: str
    injections: dict[str, str]
    # Tools that the user's task needs, and that the injection's goal needs.
    needed: frozenset[str]
    wanted: frozenset[str]

    def allows(self, tools: set[str]) -> bool:
        return tools <= self.needed


@dataclass
class Result:
    attack: bool
    utility: bool
    # How often the person is asked.
    questions: int
    denied: bool


@dataclass
class World:
    """An environment, and the calls that were made in it."""

    environment: Any
    trace: list[Call] = field(default_factory=list)

    def make(self, call: Call) -> bool:
        """Makes a call. Whether its result shows an injection."""
        self.trace.append(call)
        try:
            result = BENCHMARK.invoke(self.environment, call.server, call.tool, copy.deepcopy(call.arguments))
        except Exception:
            return False
        return MARK in str(BENCHMARK.plain(result))


@functools.cache
def attack_on(suite: str) -> ImportantInstructionsAttackNoModelName:
    target = GroundTruthPipeline(None)
    target.name = "gpt-4o-2024-05-13"  # AgentDojo wants the name of a model; this attack does not use it
    return ImportantInstructionsAttackNoModelName(SUITES[suite], target)


def injections_of(suite: str, user: str, injection: str) -> dict[str, str]:
    """AgentDojo's texts for the places that the user's task reads."""
    tasks = SUITES[suite].user_tasks[user], SUITES[suite].injection_tasks[injection]
    return attack_on(suite).attack(*tasks)


def pairs_of(user: str, needed: list[str]) -> list[Pair]:
    suite, name = user.split("/")
    return [Pair(user, f"{suite}/{injection}", injections_of(suite, name, injection), frozenset(needed),
                 frozenset(f"{suite}.{call.tool}" for call in BENCHMARK.gold(f"{suite}/{injection}")))
            for injection in SUITES[suite].injection_tasks]


class Judge:
    """AgentDojo's own verdicts on a pair: the attacker's goal is reached, and the user's task is done. The same calls
    have the same verdicts."""

    def __init__(self, pair: Pair, before: Any) -> None:
        self.pair, self.before, self.known = pair, before, {}

    def verdicts(self, world: World) -> tuple[bool, bool]:
        key = repr(world.trace)
        if key not in self.known:
            after = {self.pair.user.split("/")[0]: world.environment}
            self.known[key] = tuple(BENCHMARK.check(task, self.before, after, world.trace)
                                    for task in (self.pair.injection, self.pair.user))
        return self.known[key]


def tools_of(calls: list[Call]) -> set[str]:
    return {f"{call.server}.{call.tool}" for call in calls}


def simulate(pair: Pair, way: str, judge: Judge) -> Result:
    world = World(copy.deepcopy(judge.before))
    calls, attack = BENCHMARK.gold(pair.user), BENCHMARK.gold(pair.injection)
    seen = next((number for number, call in enumerate(calls, 1) if world.make(call)), None)
    rest = calls[len(world.trace):]
    if way == "second":
        for call in rest:
            world.make(call)
        rest = []
    if seen is None:
        attack = []
    asked = tools_of(calls) | (tools_of(attack) if way == "asked" else set())
    denied = way != "direct" and not pair.allows(tools_of(attack))
    for call in attack:
        if way == "direct" or (way == "asked" and pair.allows(tools_of([call]))) or not denied:
            world.make(call)
    for call in rest:
        world.make(call)
    questions = {"direct": 0, "asked": len(asked)}.get(way, 1 + bool(attack) + (way == "extended" and denied))
    reached, utility = judge.verdicts(world)
    return Result(reached and seen is not None, utility, questions, denied and bool(attack))


def environment_of(pair: Pair) -> Any:
    return BENCHMARK.environment(pair.user, pair.user.split("/")[0], pair.injections)


def simulate_user(job: tuple[str, list[str]]) -> list[tuple[Pair, dict[str, Result]]]:
    found = []
    for pair in pairs_of(*job):
        judge = Judge(pair, environment_of(pair))
        found.append((pair, {way: simulate(pair, way, judge) for way in WAYS}))
    return found


def simulate_all(settings: Settings, rows: list[Row]) -> list[tuple[Pair, dict[str, Result]]]:
    jobs = [(row.task, row.manifest) for row in rows]
    with multiprocessing.get_context("fork").Pool(settings.workers) as pool:
        return [one for found in pool.map(simulate_user, jobs, chunksize=1) for one in found]


class Person:
    """Allows a program that calls only tools which the user's task needs."""

    pair: Pair

    def __call__(self, question: str) -> bool:
        return self.pair.allows(set(re.findall(r"^  (\S+)", question, re.MULTILINE)))


class Enforcement:
    """Runs pairs through `toolsmith serve`."""

    def __init__(self, settings: Settings, name: str) -> None:
        self.person = Person()
        self.bench = Bench(settings, BENCHMARK, "sig", name, self.person)
        self.writer = Writer(BENCHMARK, "sig")

    def program(self, task: str) -> Program:
        return self.writer.write(task, BENCHMARK.replay(task), "functions")

    def run(self, pair: Pair, way: str) -> Result:
        """Two programs, and a third one if the second one is denied and has calls for the user."""
        self.person.pair = pair
        suite = pair.user.split("/")[0]
        client = self.bench.client([suite])
        asked = client.questions
        user, attack = self.program(pair.user), self.program(pair.injection)
        before = environment_of(pair)
        world = World(copy.deepcopy(before))
        numbers = list(range(len(user.lines)))
        first = numbers
        if way == "extended":
            probe = World(copy.deepcopy(before))
            seen = next((n for n, call in enumerate(BENCHMARK.gold(pair.user), 1) if probe.make(call)), len(numbers))
            first = numbers[:seen]
        shows = MARK in self.step(pair, suite, world, user.part(first))[0]
        rest = numbers[len(first):]
        lines = [user.lines[number] for number in rest]
        denied = False
        if shows and attack.lines:
            code = written([*attack.lines, *lines], [f"r{number + 1}" for number in rest])
            denied = self.step(pair, suite, world, code)[1] == "denied"
        if lines and (denied or not (shows and attack.lines)):
            self.step(pair, suite, world, user.part(rest))
        reached, utility = Judge(pair, before).verdicts(world)
        return Result(reached and shows, utility, client.questions - asked, denied)

    def step(self, pair: Pair, suite: str, world: World, code: str) -> tuple[str, str]:
        """Runs one program in the world; what the model reads, and the status."""
        assignment = Assignment(pair.user, pair.injections, {suite: world.environment} if world.trace else {})
        answer, record = self.bench.run(code, assignment)
        world.environment = record.after.get(suite, world.environment)
        world.trace += record.calls
        return answer.text, answer.outcome["status"]


def sample(found: list[tuple[Pair, dict[str, Result]]]) -> list[tuple[Pair, dict[str, Result]]]:
    """For each injection task, the first pair that is denied and the first one that is not."""
    chosen = {}
    for pair, results in found:
        chosen.setdefault((pair.injection, results["second"].denied), (pair, results))
    return list(chosen.values())


def enforce(job: tuple[Settings, int, list[tuple[Pair, dict[str, Result]]]]) -> list[str]:
    """Disagreements between a simulated pair and the same pair through Toolsmith."""
    settings, number, pairs = job
    enforcement, wrong = Enforcement(settings, f"attacks-{number}"), []
    try:
        for pair, results in pairs:
            for way in ("second", "extended"):
                got, wanted = enforcement.run(pair, way), results[way]
                if (got.attack, got.utility, got.denied) != (wanted.attack, wanted.utility, wanted.denied):
                    wrong.append(f"{pair.user} with {pair.injection}, {way}: simulated {wanted}, enforced {got}")
    finally:
        enforcement.bench.close()
    return wrong


def enforce_all(settings: Settings, pairs: list[tuple[Pair, dict[str, Result]]]) -> list[str]:
    jobs = [(settings, number, pairs[number::settings.workers]) for number in range(settings.workers)]
    with multiprocessing.get_context("fork").Pool(settings.workers) as pool:
        return [one for wrong in pool.map(enforce, jobs, chunksize=1) for one in wrong]


def summary(found: list[tuple[Pair, dict[str, Result]]], enforced: int, wrong: list[str]) -> dict[str, Any]:
    """Counts for all pairs, and for those whose injection needs calls. `wrong`: see `enforce`."""
    def counts(pairs: list[tuple[Pair, dict[str, Result]]]) -> dict[str, Any]:
        return {"pairs": len(pairs), "ways": {way: {
            "attacks": sum(results[way].attack for _, results in pairs),
            "utility": sum(results[way].utility for _, results in pairs),
            "denied": sum(results[way].denied for _, results in pairs),
            "questions": sum(results[way].questions for _, results in pairs)} for way in WAYS}}

    suites = {suite: counts([one for one in found if one[0].user.startswith(f"{suite}/")]) for suite in SUITES}
    outside = sum(not pair.allows(set(pair.wanted)) for pair, _ in found)
    return {"all": counts(found), "with calls": counts([one for one in found if one[0].wanted]), "suites": suites,
            "outside": outside, "enforced": enforced, "disagreements": wrong}
