// typescript.mjs SDK ERA TARGET: a client of the official TypeScript SDK that carries out a plan.
//
// SDK is `v1` (@modelcontextprotocol/sdk), `old` (an early version without elicitation) or `v2`
// (@modelcontextprotocol/client). ERA is `sessions` or `stateless` (v2 only). TARGET is an address, or a command line as
// a JSON array. Standard input is the plan, a JSON array of calls: `tool`, `arguments`, `answer` to elicitations (`accept`
// or `decline`), `cancel` (at the first progress whose message contains this text).
// Standard output is one JSON object: `protocol`, `tools`, `definitions` (the tools in full), `calls` with the result of
// each, `logs` with the log messages.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// The packages are not next to this file, but where they were installed.
const require = createRequire(`${process.env.TOOLSMITH_PEERS}/`);
const LIMIT = 120_000;

const [sdk, era, target] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(0, 'utf8'));
const asked = { count: 0, answer: 'decline' };
const logs = [];
const client = await connect();

const calls = [];
const listed = await client.listTools();
for (const call of plan) calls.push(await perform(call));
const protocol = client.getNegotiatedProtocolVersion?.() ?? client.transport?.protocolVersion ?? null;
await client.close();
const tools = listed.tools.map(tool => tool.name);
console.log(JSON.stringify({ protocol, tools, definitions: listed.tools, calls, logs }));

async function connect() {
  const folder = sdk === 'old' ? 'sdk-1.12' : '@modelcontextprotocol/sdk';
  const from = name => require(sdk === 'v2' ? '@modelcontextprotocol/client' : `${folder}/${name}`);
  const { Client } = from('client/index.js');
  const { StreamableHTTPClientTransport } = from('client/streamableHttp.js');
  const { StdioClientTransport } =
    sdk === 'v2' ? require('@modelcontextprotocol/client/stdio') : from('client/stdio.js');
  const options = sdk === 'old' ? {} : { capabilities: { elicitation: {} } };
  if (era === 'stateless') options.versionNegotiation = { mode: { pin: '2026-07-28' } };
  const client = new Client({ name: `peers-typescript-${sdk}`, version: '1.0.0' }, options);
  const elicitation = sdk === 'v1' ? from('types.js').ElicitRequestSchema : 'elicitation/create';
  const answer = request => {
    asked.count += 1;
    if (asked.answer !== 'accept') return { action: 'decline' };
    return { action: 'accept', content: filled(request.params.requestedSchema) };
  };
  if (sdk !== 'old') client.setRequestHandler(elicitation, answer);
  const logged = sdk === 'v2' ? 'notifications/message' : from('types.js').LoggingMessageNotificationSchema;
  client.setNotificationHandler(logged, ({ params }) => void logs.push(params));
  await client.connect(transport(StdioClientTransport, StreamableHTTPClientTransport));
  if (sdk === 'v1') await client.setLoggingLevel('debug');
  return client;
}

function transport(Stdio, Http) {
  if (!target.startsWith('[')) return new Http(new URL(target));
  const [command, ...args] = JSON.parse(target);
  return new Stdio({ command, args, env: process.env, stderr: 'inherit' });
}

// The choices of a user who agrees to as little as possible: the first of several.
function filled(schema) {
  const value = field => {
    const choices = field.enum ?? field.oneOf?.map(choice => choice.const);
    if (choices) return choices[0];
    if (field.type === 'boolean') return true;
    return field.type === 'string' ? 'yes' : 1;
  };
  return Object.fromEntries(Object.entries(schema?.properties ?? {}).map(([name, field]) => [name, value(field)]));
}

async function perform({ tool, arguments: args, answer, cancel }) {
  Object.assign(asked, { count: 0, answer: answer ?? 'decline' });
  const abort = new AbortController();
  const steps = [];
  const onprogress = ({ progress, total, message }) => {
    steps.push({ progress, total, message });
    if (cancel !== undefined && message?.includes(cancel)) abort.abort('the test has seen enough');
  };
  const options = { onprogress, signal: abort.signal, timeout: LIMIT, resetTimeoutOnProgress: true };
  const params = { name: tool, arguments: args ?? {} };
  const outcome = { text: '', kinds: [], isError: null, structured: null, outcome: null, error: null };
  try {
    const result = await (sdk === 'v2' ? client.callTool(params, options) : client.callTool(params, undefined, options));
    outcome.isError = result.isError ?? false;
    outcome.structured = result.structuredContent ?? null;
    outcome.outcome = result._meta?.['io.toolsmith/outcome'] ?? null;
    outcome.kinds = result.content.map(part => (part.mimeType ? `${part.type} ${part.mimeType}` : part.type));
    outcome.text = result.content.filter(part => part.type === 'text').map(part => part.text).join('\n');
  } catch (error) {
    outcome.error = String(error?.message ?? error);
  }
  return { ...outcome, progress: steps, asked: asked.count };
}
