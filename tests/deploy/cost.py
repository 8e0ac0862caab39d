"""Measures the processor time of executions on one replica.

Usage: cost.py ADDRESS TOKEN USAGE

USAGE is the file in which the kernel counts the processor time of the replica's control group: cpuacct.usage
(nanoseconds) or cpu.stat (a line usage_usec). Everything is counted: Toolsmith, compilers, programs and MCP servers.
"""

import sys
import threading

from fleet import Client

EXECUTIONS = 200
CLIENTS = 2
# Four calls of tools, and some work on their results.
SNIPPET = """let mut total = {start}_i64;
let mut cursor = None;
loop {{
    let page = demo::list_orders().status("pending").cursor(cursor).await?;
    total += page.orders.iter().map(|order| order.total_cents).sum::<i64>();
    cursor = page.next_cursor;
    if cursor.is_none() {{ break; }}
}}
for id in ["c-01", "c-02"] {{
    total += i64::try_from(demo::get_customer(id).await?.name.len())?;
}}
total"""


def used(file):
    """Processor time in seconds."""
    with open(file, encoding="utf-8") as text:
        content = text.read().split()
    if len(content) == 1:
        return int(content[0]) / 1e9
    return int(content[content.index("usage_usec") + 1]) / 1e6


def run(address, token, snippets):
    """Executes the snippets, as several clients at the same time."""
    wrong = []

    def client(own):
        session = Client(address, token)
        session.initialize()
        wrong.extend(found for found in map(session.execute, own) if not found.startswith("ok "))
        session.end()

    threads = [threading.Thread(target=client, args=(snippets[number::CLIENTS],)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        sys.exit(f"{len(wrong)} executions failed, such as: {wrong[0]}")


def main(address, token, usage):
    """Prints a row for new and for repeated snippets."""
    new = [SNIPPET.format(start=number) for number in range(EXECUTIONS)]
    run(address, token, [SNIPPET.format(start=-number) for number in range(1, 11)])
    for name, snippets in (("new", new), ("repeated", [new[number % 10] for number in range(EXECUTIONS)])):
        before = used(usage)
        run(address, token, snippets)
        each = (used(usage) - before) / EXECUTIONS
        print(f"{name:<10} {each * 1000:7.0f} ms of processor time each, {0.7 / each:6.1f} per second on 70% of a core")


if __name__ == "__main__":
    main(*sys.argv[1:])
