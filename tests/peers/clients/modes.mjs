// modes.mjs SDK: a client of the official TypeScript SDK against odd servers, several at a time.
//
// SDK is `v1` (@modelcontextprotocol/sdk) or `v2` (@modelcontextprotocol/client, which looks for the newest protocol).
// Standard input is a JSON array of servers: `mode`, `target` (an address, or a command line as an array),
// `watchdog` in seconds, and `ping` if it should be pinged. Standard output is one JSON object with a report on each mode.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// The packages are not next to this file, but where they were installed.
const require = createRequire(`${process.env.TOOLSMITH_PEERS}/`);
const AT_ONCE = 16;
// More pages than any server here has.
const PAGES = 20;

const [sdk] = process.argv.slice(2);
const from = name => require(sdk === 'v1' ? `@modelcontextprotocol/sdk/${name}` : '@modelcontextprotocol/client');
const { Client } = from('client/index.js');
const { StreamableHTTPClientTransport } = from('client/streamableHttp.js');
const { StdioClientTransport } = sdk === 'v1' ? from('client/stdio.js') : require('@modelcontextprotocol/client/stdio');

// Errors outside of requests are reported by the mode's own handler.
process.on('unhandledRejection', () => {});
for (const method of ['log', 'info', 'warn', 'error', 'debug']) console[method] = () => {};

const waiting = JSON.parse(readFileSync(0, 'utf8'));
const seen = {};
const work = async () => {
  for (let server = waiting.shift(); server; server = waiting.shift()) seen[server.mode] = await watch(server);
};
await Promise.all(Array.from({ length: AT_ONCE }, work));
// The reader does not accept lone surrogates.
const whole = (_, value) => (typeof value === 'string' ? value.toWellFormed() : value);
process.stdout.write(JSON.stringify(seen, whole), () => process.exit(0));

async function watch(server) {
  const report = { stage: 'connect', calls: [], notices: [] };
  const watchdog = new Promise(resolve => setTimeout(resolve, server.watchdog * 1000, 'hangs'));
  const ended = await Promise.race([perform(server, report), watchdog]);
  if (ended === 'hangs') report.hangs = report.stage;
  return { ...report };
}

async function perform({ target, ping }, report) {
  const options = sdk === 'v1' ? {} : { versionNegotiation: { mode: 'auto' } };
  const client = new Client({ name: `peers-modes-${sdk}`, version: '1.0.0' }, options);
  client.onerror = error => void report.notices.push(String(error?.message ?? error));
  const transport = Array.isArray(target)
    ? new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: 'ignore' })
    : new StreamableHTTPClientTransport(new URL(target));
  const attempt = async (stage, action) => {
    report.stage = stage;
    try {
      return [await action(), null];
    } catch (error) {
      return [null, String(error?.message ?? error)];
    }
  };
  [, report.connect] = await attempt('connect', () => client.connect(transport));
  if (report.connect !== null) return;
  [report.tools, report.list] = await attempt('list', () => list(client, report));
  for (const _ of [1, 2]) {
    const call = () => client.callTool({ name: 'echo', arguments: { message: 'hello' } });
    const [result, error] = await attempt('call', call);
    report.calls.push({ result, error });
  }
  [, report.again] = await attempt('again', () => client.listTools());
  if (ping) [, report.ping] = await attempt('ping', () => client.ping());
  const farewell = async () => {
    await transport.terminateSession?.();
    await client.close();
  };
  [, report.close] = await attempt('close', farewell);
}

// Reads every page, as documented for clients.
async function list(client, report) {
  const tools = [];
  let cursor;
  let pages = 0;
  do {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
    pages += 1;
    if (pages === PAGES) report.hangs = 'list';
  } while (cursor && pages < PAGES);
  return tools.map(({ name, description }) => ({ name, description }));
}
