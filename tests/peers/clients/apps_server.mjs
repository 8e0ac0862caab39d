// apps_server.mjs NAME: a server with a view, by the official package for apps (@modelcontextprotocol/ext-apps). Every
// such server uses the same address for its view. Clients without apps get its tool without the view.

import { pathToFileURL } from 'node:url';

// The packages are not next to this file, but where they were installed.
const installed = file => import(pathToFileURL(`${process.env.TOOLSMITH_PEERS}/node_modules/${file}`));
const { McpServer } = await installed('@modelcontextprotocol/server/dist/index.mjs');
const { StdioServerTransport } = await installed('@modelcontextprotocol/server/dist/stdio.mjs');
const apps = await installed('@modelcontextprotocol/ext-apps/dist/src/server/index.js');
const { z } = await installed('zod/index.js');

const [name] = process.argv.slice(2);
const BOARD = 'ui://board';
const server = new McpServer({ name, version: '1.0.0' });
const inputSchema = z.object({ move: z.string() });
const moved = ({ move }) => ({
  content: [{ type: 'text', text: `${name}: ${move}` }],
  structuredContent: { [name]: move },
});
const ui = { csp: { connectDomains: [`https://${name}.example`] }, permissions: { camera: {} } };
const read = async () => ({
  contents: [{ uri: BOARD, mimeType: apps.RESOURCE_MIME_TYPE, text: `<title>${name}</title>`, _meta: { ui } }],
});
server.registerTool('count', { description: 'Counts the moves.', inputSchema: z.object({}) }, async () => ({
  content: [{ type: 'text', text: '0' }],
}));
apps.registerAppResource(server, 'board', BOARD, {}, read);
server.server.oninitialized = () => {
  const declared = apps.getUiCapability(server.server.getClientCapabilities());
  if (!declared?.mimeTypes?.includes(apps.RESOURCE_MIME_TYPE)) {
    server.registerTool('show', { description: 'Moves.', inputSchema }, async input => moved(input));
    return;
  }
  const tool = (tool, visibility) => {
    const config = { description: 'Moves.', inputSchema, _meta: { ui: { resourceUri: BOARD, visibility } } };
    apps.registerAppTool(server, tool, config, async input => moved(input));
  };
  tool('show', ['model', 'app']);
  tool(`press_${name}`, ['app']);
};
await server.connect(new StdioServerTransport());
