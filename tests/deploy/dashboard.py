"""The queries of the dashboard and of the alerts.

Usage: dashboard.py rules DASHBOARD           prints the queries as recording rules, for `promtool check rules`
       dashboard.py names DOCS FILE...        checks that every metric of the files is in a table of DOCS
       dashboard.py runbooks DOCS ALERTS      checks that every alert has a section in DOCS
       dashboard.py run DASHBOARD ADDRESS     runs the queries with a Prometheus that scrapes two replicas
"""

import json
import re
import sys
import urllib.parse
import urllib.request

# Metrics of the kubelet, and Grafana's variables with values that fit any server.
FOREIGN = {"container_cpu_usage_seconds_total", "container_memory_working_set_bytes"}
VARIABLES = {"$__rate_interval": "1m", "$__range": "5m", "$namespace": ".*", "$job": ".*"}


def queries(file):
    """The panels' titles and queries, and those of the variables."""
    with open(file, encoding="utf-8") as text:
        dashboard = json.load(text)
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            query = target["expr"]
            for name, value in VARIABLES.items():
                query = query.replace(name, value)
            if "$" in query:
                sys.exit(f"{file}: {panel['title']}: an unknown variable in {query}")
            yield panel["title"], query


def rules(file):
    """Recording rules, which `promtool check rules` parses. JSON is YAML."""
    found = [{"record": f"query:{number}", "expr": query} for number, (_, query) in enumerate(queries(file))]
    if not found:
        sys.exit(f"{file} has no queries")
    print(json.dumps({"groups": [{"name": "dashboard", "rules": found}]}, indent=1))


def documented(file):
    """The metrics in the tables of a page. A cell may have several; `…_x` stands for the prefix of the first."""
    names = set()
    with open(file, encoding="utf-8") as text:
        for line in text:
            cells = re.match(r"\| (`(?:toolsmith|process)_.*?) \| (\w+)", line)
            if not cells:
                continue
            kind = cells[2]
            first, *others = re.findall(r"`([^`]+)`", cells[1])
            for name in [first] + [re.sub("^…", first.rsplit("_", 1)[0], other) for other in others]:
                names |= {name} if kind != "histogram" else {f"{name}{end}" for end in ("_bucket", "_count", "_sum")}
    return names


def names(docs, files):
    """Every metric that is used must be documented."""
    known = documented(docs) | FOREIGN
    failed, used = False, set()
    for file in files:
        with open(file, encoding="utf-8") as text:
            found = set(re.findall(r"\b(?:toolsmith|process|container)_\w+", text.read()))
        used |= found
        for name in sorted(found - known):
            failed = True
            print(f"{file}: {docs} has no metric {name}", file=sys.stderr)
    if not used:
        sys.exit("the files use no metric")
    print(f"{len(used)} metrics are used, {len(known)} documented")
    return int(failed)


def runbooks(docs, alerts):
    """Each alert has a section with its name, which its annotation names."""
    with open(docs, encoding="utf-8") as text:
        sections = dict(re.findall(r"^### (\w+)\n\n(.+?)\n\n", text.read() + "\n\n", re.M | re.S))
    with open(alerts, encoding="utf-8") as text:
        rules_text = text.read()
    found = re.findall(r"- alert: (\w+)", rules_text)
    named = re.findall(r"runbook: (\S+)", rules_text)
    expected = [f"{docs}#{alert.lower()}" for alert in found]
    missing = [alert for alert in found if len(sections.get(alert, "")) < 100]
    if named != expected or missing or not found:
        print(f"alerts {found}, runbooks {named}, without a section in {docs}: {missing}", file=sys.stderr)
        return 1
    print(f"{len(found)} alerts have a runbook")
    return 0


def ask(address, path, **parameters):
    """An answer of Prometheus' API."""
    with urllib.request.urlopen(f"{address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=30) as answer:
        return json.load(answer)["data"]


def run(file, address):
    """Every query must be valid. Queries of our metrics must have a result, except those of what did not happen."""
    empty = []
    count = 0
    for title, query in queries(file):
        count += 1
        result = ask(address, "query", query=query)["result"]
        if not result and not any(name in query for name in FOREIGN) and title != "Failed calls":
            empty.append(f"{title}: {query}")
    for line in empty:
        print(f"no result: {line}", file=sys.stderr)
    print(f"{count} queries, {len(empty)} without a result")
    return int(bool(empty) or count == 0)


def main(arguments):
    """Does what the first argument says."""
    match arguments:
        case ["rules", dashboard]:
            return rules(dashboard)
        case ["names", docs, *files]:
            return names(docs, files)
        case ["runbooks", docs, alerts]:
            return runbooks(docs, alerts)
        case ["run", dashboard, address]:
            return run(dashboard, address)
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
