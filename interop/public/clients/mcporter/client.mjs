// mcporter: the runtime behind its command line.

import { createRuntime } from 'mcporter'

import { main, target } from './steps.mjs'

const NAME = 'server'

async function connect() {
  const command = { kind: 'http', url: new URL(target) }
  const runtime = await createRuntime({ servers: [{ name: NAME, command }] })
  return {
    close: () => runtime.close(),
    list_tools: async () => {
      const tools = await runtime.listTools(NAME, { includeSchema: true })
      return Object.fromEntries(tools.map((tool) => [tool.name, tool.inputSchema]))
    },
    call_tool: (step) => runtime.callTool(NAME, step.name, { args: step.arguments ?? {} }),
    list_resources: () => runtime.listResources(NAME),
  }
}

await main(connect, ['list_tools', 'call_tool', 'list_resources'])
// A connection that stays open must not keep the program.
process.exit()
