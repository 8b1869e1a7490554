// The client of version 2 of the TypeScript SDK: messages are named by their methods.
// `connect` looks for the newest revision; everything else runs on the handshake revisions, because levels,
// subscriptions and sessions exist there only.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

import { main } from '../steps.mjs'

await main({
  stdio: ([command, ...args]) => new StdioClientTransport({ command, args }),

  http: (url, { fetch }) => new StreamableHTTPClientTransport(url, { fetch }),

  client(handlers, { mode = 'legacy' }) {
    const capabilities = { sampling: {}, elicitation: {} }
    const options = { capabilities, versionNegotiation: { mode } }
    const client = new Client({ name: 'interop', version: '1.0.0' }, options)
    client.setRequestHandler('sampling/createMessage', handlers.sampling)
    client.setRequestHandler('elicitation/create', handlers.elicitation)
    client.setNotificationHandler('notifications/message', handlers.log)
    client.setNotificationHandler('notifications/resources/updated', handlers.updated)
    return client
  },

  callTool: (client, params, options) => client.callTool(params, options),

  firstPage: (client) => client.request({ method: 'tools/list' }),

  revision: (client) => client.getNegotiatedProtocolVersion(),
})
