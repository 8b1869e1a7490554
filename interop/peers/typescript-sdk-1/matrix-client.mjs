// The client of version 1 of the TypeScript SDK in a matrix (docs/matrix.md): the last argument is a URL, or the
// command line of a stdio server. Exit code 127: the SDK does not offer the revision.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LATEST_PROTOCOL_VERSION,
} from '@modelcontextprotocol/sdk/types.js'

// Generous: on a busy machine some servers need as long to start.
const TIMEOUT = 45_000
const NOT_SUPPORTED = 127
const options = { timeout: TIMEOUT }

function transportTo(address) {
  if (address.includes('://')) return new StreamableHTTPClientTransport(new URL(address))
  const [command, ...args] = address.split(' ').map((word) => word.replace(/^'(.*)'$/, '$1'))
  return new StdioClientTransport({ command, args })
}

function newClient() {
  const client = new Client({ name: 'matrix', version: '1.0.0' }, { capabilities: { sampling: {}, elicitation: {} } })
  client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    role: 'assistant',
    model: 'matrix',
    content: { type: 'text', text: 'sampled by the client' },
  }))
  client.setRequestHandler(ElicitRequestSchema, async () => ({
    action: 'accept',
    content: { username: 'ada', email: 'ada@example.org' },
  }))
  return client
}

const actsOf = (client) => ({
  list_tools: () => client.listTools(undefined, options),
  call_tool: ({ name, arguments: args }) =>
    client.callTool({ name, arguments: args }, undefined, { ...options, onprogress: () => {} }),
  list_resources: () => client.listResources(undefined, options),
  read_resource: ({ uri }) => client.readResource({ uri }, options),
  list_templates: () => client.listResourceTemplates(undefined, options),
  list_prompts: () => client.listPrompts(undefined, options),
  get_prompt: ({ name, arguments: args }) => client.getPrompt({ name, arguments: args }, options),
  complete: ({ ref, argument }) => client.complete({ ref, argument }, options),
  set_level: ({ level }) => client.setLoggingLevel(level, options),
  ping: () => client.ping(options),
  subscribe: ({ uri }) => client.subscribeResource({ uri }, options),
})

async function report(steps, acts) {
  for (const [step, { do: name, ...settings }] of steps.entries()) {
    const line = { step, ok: name in acts ? true : null }
    try {
      await acts[name]?.(settings)
    } catch (error) {
      Object.assign(line, { ok: false, detail: `${error.name}: ${error.message}` })
    }
    console.log(JSON.stringify(line))
  }
}

async function main() {
  if (process.env.MCP_CONFORMANCE_PROTOCOL_VERSION !== LATEST_PROTOCOL_VERSION) {
    console.error(`this SDK offers ${LATEST_PROTOCOL_VERSION} only`)
    return NOT_SUPPORTED
  }
  const client = newClient()
  const transport = transportTo(process.argv.at(-1))
  await client.connect(transport, options)
  await report(JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT).steps, actsOf(client))
  await transport.terminateSession?.().catch((error) => console.error(error.message))
  await client.close()
  return 0
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(`${error.name}: ${error.message}`)
  process.exitCode = 1
}
process.exit()
