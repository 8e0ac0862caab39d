// apps.mjs ADDRESS CODE: a host of apps, by the official package for them (@modelcontextprotocol/ext-apps): reads the
// views of all tools, runs a snippet that hands a view on, and lets an app of the package show it and call a tool.
//
// Standard output is one JSON object: `views` by tool, the `link` of the snippet's view with its document, what the app
// `received`, and its call, `pressed`.

import { pathToFileURL } from 'node:url';

// The packages are not next to this file, but where they were installed.
const installed = file => import(pathToFileURL(`${process.env.TOOLSMITH_PEERS}/node_modules/${file}`));
const { Client, InMemoryTransport, StreamableHTTPClientTransport } = await installed(
  '@modelcontextprotocol/client/dist/index.mjs',
);
const host = await installed('@modelcontextprotocol/ext-apps/dist/src/app-bridge.js');
const { App } = await installed('@modelcontextprotocol/ext-apps/dist/src/app.js');

const [address, code] = process.argv.slice(2);
const info = { name: 'peers-apps', version: '1.0.0' };
const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [host.RESOURCE_MIME_TYPE] } };
const client = new Client(info, { capabilities: { extensions } });
await client.connect(new StreamableHTTPClientTransport(new URL(address)));

const views = {};
const { tools } = await client.listTools();
for (const tool of tools) {
  const uri = host.getToolUiResourceUri(tool);
  if (uri !== undefined) views[tool.name] = { isForApps: host.isToolVisibilityAppOnly(tool), ...(await document(uri)) };
}
const execution = await client.callTool({ name: 'execute_code', arguments: { code } });
const link = execution.content.find(block => block.type === 'resource_link');
if (link === undefined) throw new Error(JSON.stringify(execution));
const linked = { name: link.name, ...(await document(link.uri)) };

const [ours, theirs] = InMemoryTransport.createLinkedPair();
const bridge = new host.AppBridge(client, info, { serverTools: {} });
const app = new App(info, {}, { autoResize: false });
const input = new Promise(resolve => (app.ontoolinput = resolve));
const result = new Promise(resolve => (app.ontoolresult = resolve));
const ready = new Promise(resolve => (bridge.oninitialized = resolve));
await bridge.connect(ours);
await app.connect(theirs);
await ready;
const call = link._meta['io.toolsmith/view'];
await bridge.sendToolInput({ arguments: call.arguments });
await bridge.sendToolResult(call.result);
const received = { input: await input, result: await result };
const pressed = await app.callServerTool({ name: 'press_go', arguments: { move: 'D4' } });
await client.close();
console.log(JSON.stringify({ views, link: linked, received, pressed }));

// What a host needs of a view.
async function document(uri) {
  const [content] = (await client.readResource({ uri })).contents;
  const ui = content._meta.ui;
  return {
    isAsked: content.uri === uri,
    isDocument: content.mimeType === host.RESOURCE_MIME_TYPE,
    text: content.text,
    allow: host.buildAllowAttribute(ui.permissions),
    connects: ui.csp.connectDomains,
  };
}
