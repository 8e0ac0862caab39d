// modes.mjs SDK: a client of the official TypeScript SDK against odd servers, several at a time.
//
// SDK is `v1` (@modelcontextprotocol/sdk) or `v2` (@modelcontextprotocol/client, which looks for the newest protocol).
// On standard input stands a JSON array of servers: `mode`, `target` (an address, or a command line as an array),
// `watchdog` in seconds, and `ping` where one is to be pinged. On standard output stands one JSON object: what was seen of
// each mode.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// The packages are not beside this file, but where they were installed.
const require = createRequire(`${process.env.TOOLSMITH_PEERS}/`);
const AT_ONCE = 16;
// More pages than any server here has.
const PAGES = 20;

const [sdk] = process.argv.slice(2);
const from = name => require(sdk === 'v1' ? `@modelcontextprotocol/sdk/${name}` : '@modelcontextprotocol/client');
const { Client } = from('client/index.js');
const { StreamableHTTPClientTransport } = from('client/streamableHttp.js');
const { StdioClientTransport } = sdk === 'v1' ? from('client/stdio.js') : require('@modelcontextprotocol/client/stdio');

// What goes wrong beside a request is seen by the mode's own handler.
process.on('unhandledRejection', () => {});
for (const method of ['log', 'info', 'warn', 'error', 'debug']) console[method] = () => {};

const waiting = JSON.parse(readFileSync(0, 'utf8'));
const seen = {};
const work = async () => {
  for (let server = waiting.shift(); server; server = waiting.shift()) seen[server.mode] = await watch(server);
};
await Promise.all(Array.from({ length: AT_ONCE }, work));
// Half a character is no text for whoever reads this.
const whole = (_, value) => (typeof value === 'string' ? value.toWellFormed() : value);
process.stdout.write(JSON.stringify(seen, whole), () => process.exit(0));

async function watch(server) {
  const told = { stage: 'connect', calls: [], told: [] };
  const watchdog = new Promise(resolve => setTimeout(resolve, server.watchdog * 1000, 'hangs'));
  const ended = await Promise.race([perform(server, told), watchdog]);
  if (ended === 'hangs') told.hangs = told.stage;
  return { ...told };
}

async function perform({ target, ping }, told) {
  const options = sdk === 'v1' ? {} : { versionNegotiation: { mode: 'auto' } };
  const client = new Client({ name: `peers-modes-${sdk}`, version: '1.0.0' }, options);
  client.onerror = error => void told.told.push(String(error?.message ?? error));
  const transport = Array.isArray(target)
    ? new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: 'ignore' })
    : new StreamableHTTPClientTransport(new URL(target));
  const attempt = async (stage, action) => {
    told.stage = stage;
    try {
      return [await action(), null];
    } catch (error) {
      return [null, String(error?.message ?? error)];
    }
  };
  [, told.connect] = await attempt('connect', () => client.connect(transport));
  if (told.connect !== null) return;
  [told.tools, told.list] = await attempt('list', () => list(client, told));
  for (const _ of [1, 2]) {
    const call = () => client.callTool({ name: 'echo', arguments: { message: 'hello' } });
    const [result, error] = await attempt('call', call);
    told.calls.push({ result, error });
  }
  [, told.again] = await attempt('again', () => client.listTools());
  if (ping) [, told.ping] = await attempt('ping', () => client.ping());
  const farewell = async () => {
    await transport.terminateSession?.();
    await client.close();
  };
  [, told.close] = await attempt('close', farewell);
}

// Every page, as the documentation has it for clients.
async function list(client, told) {
  const tools = [];
  let cursor;
  let pages = 0;
  do {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
    pages += 1;
    if (pages === PAGES) told.hangs = 'list';
  } while (cursor && pages < PAGES);
  return tools.map(({ name, description }) => ({ name, description }));
}
