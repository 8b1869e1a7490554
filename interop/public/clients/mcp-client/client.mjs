// mcp-client: every call that its class has.

import { ErrorCode, MCPClient } from 'mcp-client'

import { main, target } from './steps.mjs'

async function connect() {
  const client = new MCPClient({ name: 'mcp-client', version: '1.0.0' })
  await client.connect({ type: 'httpStream', url: target })
  return {
    close: () => client.close(),
    list_tools: async () => {
      const tools = await client.getAllTools()
      return Object.fromEntries(tools.map((tool) => [tool.name, tool.inputSchema]))
    },
    call_tool: async (step) => {
      const timeout = step.timeout && step.timeout * 1000
      try {
        const call = { name: step.name, arguments: step.arguments ?? {} }
        await client.callTool(call, timeout ? { requestOptions: { timeout } } : {})
      } catch (error) {
        if (!timeout || error.code !== ErrorCode.RequestTimeout) throw error
      }
    },
    list_resources: () => client.getAllResources(),
    list_templates: () => client.getAllResourceTemplates(),
    read_resource: ({ uri }) => client.getResource({ uri }),
    list_prompts: () => client.getAllPrompts(),
    get_prompt: (step) => client.getPrompt({ name: step.name, arguments: step.arguments }),
    complete: ({ ref, argument }) => client.complete({ ref, argument }),
    set_level: ({ level }) => client.setLoggingLevel(level),
    ping: () => client.ping(),
  }
}

await main(connect, [
  ...['list_tools', 'call_tool', 'timeout', 'list_resources', 'list_templates', 'read_resource'],
  ...['list_prompts', 'get_prompt', 'complete', 'set_level', 'ping'],
])
// A connection that stays open must not keep the program.
process.exit()
