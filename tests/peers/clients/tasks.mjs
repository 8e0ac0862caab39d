// tasks.mjs ADDRESS CODE: runs a snippet with `execute_code` as a task, by the official package for tasks
// (@modelcontextprotocol/ext-tasks) and a client of the official TypeScript SDK (@modelcontextprotocol/client).
//
// Standard output is one JSON object: `requests` with the methods about tasks in order, without repetitions, and `result`.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The packages are not next to this file, but where they were installed.
const folder = process.env.TOOLSMITH_PEERS;
const require = createRequire(`${folder}/`);
const { Client } = require('@modelcontextprotocol/client');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
const package_ = pathToFileURL(`${folder}/node_modules/@modelcontextprotocol/ext-tasks/dist/client/index.js`);
const { createTaskSessionFromClient, resultFromTaskOutcome } = await import(package_);

const VERSION = '2026-07-28';
const [address, code] = process.argv.slice(2);
const clientInfo = { name: 'peers-tasks', version: '1.0.0' };
const clientCapabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const client = new Client(clientInfo, {
  capabilities: clientCapabilities,
  versionNegotiation: { mode: { pin: VERSION } },
});
await client.connect(new StreamableHTTPClientTransport(new URL(address)));

const requests = [];
let sent = 0;
const session = createTaskSessionFromClient(client, {
  endpointId: 'toolsmith',
  rawDispatch: dispatch,
  v2RequestFraming: { protocolVersion: VERSION, clientInfo, clientCapabilities },
});
const execution = await session.callTool('execute_code', { code });
const { outcome } = await execution.settle();
const result = resultFromTaskOutcome(outcome);
await session.close();
await client.close();
console.log(JSON.stringify({ requests, result }));

// The client of the SDK does not know the results of tasks, so their requests go past it. They come without an envelope.
async function dispatch(request, options) {
  if (requests.at(-1) !== request.method) requests.push(request.method);
  const id = (sent += 1);
  const name = request.params?.name ?? request.params?.taskId;
  const response = await fetch(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': request.method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, ...request }),
    signal: options?.signal,
  });
  const text = await response.text();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return JSON.parse(text);
  const messages = text.split('\n').filter(line => line.startsWith('data: {')).map(line => JSON.parse(line.slice(6)));
  return messages.find(message => message.id === id);
}
