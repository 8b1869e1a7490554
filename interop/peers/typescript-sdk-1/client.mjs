// The client of version 1 of the TypeScript SDK: messages are named by their schemas.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js'

import { main } from '../steps.mjs'

await main({
  stdio: ([command, ...args]) => new StdioClientTransport({ command, args }),

  http: (url, { fetch }) => new StreamableHTTPClientTransport(url, { fetch }),

  client(handlers) {
    const capabilities = { sampling: {}, elicitation: {} }
    const client = new Client({ name: 'interop', version: '1.0.0' }, { capabilities })
    client.setRequestHandler(CreateMessageRequestSchema, handlers.sampling)
    client.setRequestHandler(ElicitRequestSchema, handlers.elicitation)
    client.setNotificationHandler(LoggingMessageNotificationSchema, handlers.log)
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, handlers.updated)
    return client
  },

  callTool: (client, params, options) => client.callTool(params, undefined, options),

  request: (client, message) => client.request(message, ResultSchema),

  firstPage: (client) => client.listTools(),

  // Only its HTTP transport tells what was negotiated.
  revision: (_client, transport) => transport.protocolVersion,
})
