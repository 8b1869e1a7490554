// The client of version 2 of the TypeScript SDK: messages are named by their methods.
// It runs once on the handshake revisions and once on the newest.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

import { PER_REQUEST, main } from '../steps.mjs'

// A schema, as the SDK wants one for methods that it does not know; it lets everything pass.
const ANYTHING = { '~standard': { version: 1, vendor: 'interop', validate: (value) => ({ value }) } }

await main({
  stdio: ([command, ...args]) => new StdioClientTransport({ command, args }),

  http: (url, { fetch }) => new StreamableHTTPClientTransport(url, { fetch }),

  client(handlers, revision) {
    const capabilities = { sampling: {}, elicitation: {} }
    const mode = revision === PER_REQUEST ? 'auto' : 'legacy'
    const options = { capabilities, versionNegotiation: { mode } }
    const client = new Client({ name: 'interop', version: '1.0.0' }, options)
    client.setRequestHandler('sampling/createMessage', handlers.sampling)
    client.setRequestHandler('elicitation/create', handlers.elicitation)
    client.setNotificationHandler('notifications/message', handlers.log)
    client.setNotificationHandler('notifications/resources/updated', handlers.updated)
    return client
  },

  callTool: (client, params, options) => client.callTool(params, options),

  async listen(client, uri) {
    const subscription = await client.listen({ resourceSubscriptions: [uri] })
    return () => subscription.close()
  },

  request: (client, message) => client.request(message, ANYTHING),

  firstPage: (client) => client.request({ method: 'tools/list' }),

  revision: (client) => client.getNegotiatedProtocolVersion(),
})
