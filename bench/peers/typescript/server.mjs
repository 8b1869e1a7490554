// The TypeScript SDK, version 2, stateless, with JSON answers: `server.mjs <descriptor of a listening socket>`.
import { createServer } from 'node:http';
import {
    localhostHostValidation,
    localhostOriginValidation,
    NodeStreamableHTTPServerTransport
} from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const validHost = localhostHostValidation();
const validOrigin = localhostOriginValidation();
const inputSchema = z.object({ a: z.number().int(), b: z.number().int() });
const outputSchema = z.object({ result: z.number().int() });

function build() {
    const server = new McpServer({ name: 'bench', version: '1.0.0' });
    server.registerTool('add', { description: 'Add two numbers.', inputSchema, outputSchema }, async ({ a, b }) => {
        const structuredContent = { result: a + b };
        return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
    });
    return server;
}

// A stateless server and transport serve one request each: the SDK refuses to use them again.
createServer(async (request, response) => {
    if (!validHost(request, response) || !validOrigin(request, response)) return;
    const server = build();
    const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    response.on('close', () => server.close());
    await server.connect(transport);
    await transport.handleRequest(request, response);
}).listen({ fd: Number(process.argv[2]) });
