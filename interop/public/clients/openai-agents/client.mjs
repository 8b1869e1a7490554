// @openai/agents-core: the server object that an agent gets.

import { MCPServerStreamableHttp } from '@openai/agents-core'

import { main, target } from './steps.mjs'

const MOST_PAGES = 50

// The library returns one page of resources; a program that reads all limits their number.
async function pages(fetch) {
  let params = {}
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { nextCursor } = await fetch(params)
    if (nextCursor === undefined) return
    params = { cursor: nextCursor }
  }
  throw new Error('the list does not end')
}

async function connect() {
  // The default, 5 seconds, is too short on a busy machine for answers that the lab sends byte by byte.
  const server = new MCPServerStreamableHttp({ url: target, name: 'server', clientSessionTimeoutSeconds: 15 })
  await server.connect()
  return {
    close: () => server.close(),
    list_tools: async () => {
      const tools = await server.listTools()
      return Object.fromEntries(tools.map((tool) => [tool.name, tool.inputSchema]))
    },
    call_tool: (step) => server.callToolResult(step.name, step.arguments ?? {}),
    list_resources: () => pages((params) => server.listResources(params)),
    list_templates: () => pages((params) => server.listResourceTemplates(params)),
    read_resource: ({ uri }) => server.readResource(uri),
  }
}

await main(connect, ['list_tools', 'call_tool', 'list_resources', 'list_templates', 'read_resource'])
// A connection that stays open must not keep the program.
process.exit()
