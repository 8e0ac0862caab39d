"""Runs the replays, the measurements and the attacks, and writes results.json (equal on every run), times.json, the
records of all tasks, and Markdown tables. See `run`, which starts it."""

import argparse
import functools
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Callable

import attacks
import economy
import escapes
import guarded
import model
import peers
import report
from benchmarks import load
from exceptions import Exceptions
from program import FORMS
from replay import Bench, Plan, Row, Settings, replay

Json = Any
HERE = Path(__file__).parent


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/evals/run")
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--everything", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--reuse", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--model")
    parser.add_argument("--benchmark", default="agentdojo", choices=["agentdojo", "bfcl", "tau2"])
    parser.add_argument("--base-url")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--budget", type=float)
    parser.add_argument("--price-in", type=float, default=0)
    parser.add_argument("--price-out", type=float, default=0)
    options = parser.parse_args()
    if options.update and (options.quick or options.only or options.limit):
        parser.error("--update needs all replays: leave out --quick, --only and --limit")
    return options


def quick_plans() -> list[Plan]:
    """All tasks of AgentDojo, also with what models forget, and the different solutions of BFCL, once each."""
    return [Plan("agentdojo", "sig", form) for form in ("functions", "sloppy")] + [Plan("bfcl", "doc", "functions")]


def benchmarks() -> list[str]:
    return ["agentdojo", "bfcl"] + (["tau2"] if os.environ.get("EVALS_TAU2") else [])


def plans(everything: bool) -> list[Plan]:
    """What a change must pass; with `everything`, all tasks in all modes and forms."""
    found = [Plan("agentdojo", "sig", form) for form in FORMS]
    found += [Plan("agentdojo", "plain", "functions"), Plan("agentdojo", "sig", "functions", "injection")]
    forms = ["functions", "structs", "sloppy", "flow"] if everything else ["functions"]
    modes = {"doc": ["functions"], "lax": forms, "plain": ["functions"]} | ({"sig": forms} if everything else {})
    found += [Plan("bfcl", mode, form, whole=everything) for mode, forms in modes.items() for form in forms]
    if os.environ.get("EVALS_TAU2"):
        modes = load("tau2").modes
        found += [Plan("tau2", mode, form) for mode in modes for form in (forms if mode == "sig" else ["functions"])]
    return found


class Evaluation:
    """Collects results, times and what fails."""

    def __init__(self, settings: Settings, options: argparse.Namespace) -> None:
        self.settings, self.limit = settings, options.limit
        self.everything, self.reuse = options.everything, options.reuse
        self.results: dict[str, Json] = {"replays": []}
        self.times: dict[str, Json] = {}
        self.rows: dict[str, list[Row]] = {}
        self.failed: list[str] = []
        self.exceptions = Exceptions(HERE / "exceptions.json")

    def timed(self, name: str, started: float) -> None:
        self.times[name] = round(time.monotonic() - started, 1)
        print(f"{name}: {self.times[name]} s", file=sys.stderr, flush=True)

    def run(self, plan: Plan) -> list[Row]:
        records = self.settings.work / f"{plan.name}.jsonl"
        if self.reuse and records.exists():
            return [Row(**json.loads(line)) for line in records.read_text().splitlines()]
        rows = replay(self.settings, load(plan.benchmark), plan, self.limit)
        with open(records, "w") as file:
            file.writelines(json.dumps(asdict(row), default=str) + "\n" for row in rows)
        return rows

    def replay(self, plan: Plan) -> None:
        started = time.monotonic()
        rows = self.rows[plan.name] = self.run(plan)
        faults = {"benchmark": 0, "product": 0}
        for row in rows:
            left, fault = self.exceptions.explain(plan, row)
            if left:
                details = {name: row.failures[name][:3] for name in sorted(left)}
                self.failed.append(f"{plan.name}: {row.task}: {json.dumps(details, default=str)[:1000]}")
            elif row.failures:
                faults[fault] += 1
        self.results["replays"].append(report.summary(plan, rows, faults))
        self.timed(plan.name, started)
        self.times[f"{plan.name}, a program"] = round(sorted(row.seconds for row in rows)[len(rows) // 2], 3)

    def part(self, name: str, make: Callable[[], Json]) -> Json:
        """A part of the results, which is kept in a file too."""
        path, started = self.settings.work / f"{name}.json", time.monotonic()
        if not (self.reuse and path.exists()):
            path.write_text(json.dumps(make(), indent=1) + "\n")
        self.results[name] = json.loads(path.read_text())
        self.timed(name, started)
        return self.results[name]

    def tokens(self) -> list[Json]:
        found = []
        for benchmark, mode in (("agentdojo", "sig"), ("bfcl", "lax"), ("tau2", "sig")):
            whole, brief = (self.rows.get(f"{benchmark}-{mode}-{form}", []) for form in ("functions", "brief"))
            if whole:
                with Bench(self.settings, load(benchmark), mode, f"tokens-{benchmark}") as bench:
                    found += economy.measure(bench, mode, whole, brief)
        return found

    def peers(self) -> list[Json]:
        found, times = peers.run(self.settings, load("agentdojo"), self.rows["agentdojo-sig-functions"])
        self.times |= {f"{name}, milliseconds of a task": time for name, time in times.items()}
        return [one | {"milliseconds": times[one["name"]]} for one in found]

    def attacks(self) -> Json:
        chosen = self.chosen_pairs
        return attacks.summary(self.simulated, len(chosen), attacks.enforce_all(self.settings, chosen))

    def guarded(self) -> Json:
        tasks = [row.task for row in self.rows["agentdojo-sig-functions"]]
        return guarded.run(self.settings, tasks, [pair for pair, _ in self.chosen_pairs])

    @functools.cached_property
    def simulated(self) -> list[Any]:
        return attacks.simulate_all(self.settings, self.rows["agentdojo-sig-functions"])

    @property
    def chosen_pairs(self) -> list[Any]:
        """The pairs that run through Toolsmith."""
        return self.simulated if self.everything else attacks.sample(self.simulated)

    def judge(self) -> list[str]:
        """What the judge of models gets wrong on one task of each suite, or on all."""
        wrong = []
        for benchmark in map(load, benchmarks()):
            tasks = {benchmark.messages(task)[0] if self.everything else benchmark.part(task): task
                     for task in benchmark.conversations()}
            wrong += model.misjudged(self.settings, benchmark, list(tasks.values()))
        return wrong

    def write(self) -> None:
        for name, value in (("results", self.results), ("times", self.times)):
            (self.settings.work / f"{name}.json").write_text(json.dumps(value, indent=1) + "\n")


def main() -> int:
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    settings = Settings(os.environ["EVALS_TOOLSMITH"], options.work, options.workers)
    if options.model:
        return model.evaluate(settings, options)
    evaluation = Evaluation(settings, options)
    offered = quick_plans() if options.quick else plans(options.everything)
    chosen = [plan for plan in offered if options.only in plan.name]
    started = time.monotonic()
    for plan in chosen:
        evaluation.replay(plan)
    if evaluation.rows and not options.quick:
        evaluation.part("tokens", evaluation.tokens)
    if "agentdojo-sig-functions" in evaluation.rows and os.environ.get("EVALS_PEERS"):
        evaluation.part("peers", evaluation.peers)
    if "agentdojo-sig-functions" in evaluation.rows and not options.quick:
        evaluation.failed += evaluation.part("attacks", evaluation.attacks)["disagreements"]
    if "agentdojo-sig-functions" in evaluation.rows and not options.quick:
        evaluation.part("guarded", evaluation.guarded)
    if options.only in "escapes":
        escaped = evaluation.part("escapes", lambda: escapes.run(settings.toolsmith, settings.work))
        evaluation.failed += [f"escapes: {name}" for name, out in escaped.items() if out]
    if options.only in "judge":
        evaluation.failed += evaluation.part("judge", evaluation.judge)
    for one in evaluation.exceptions.stale([] if options.limit else chosen):
        evaluation.failed.append(f"exceptions.json: no longer occurs: {one.reason}")
    evaluation.timed("all", started)
    evaluation.write()
    print(report.tables(evaluation.results))
    if options.update:
        report.update(options.root, evaluation.results)
    for line in evaluation.failed:
        print(f"FAILED {line}", file=sys.stderr)
    return 1 if evaluation.failed else 0


if __name__ == "__main__":
    sys.exit(main())
