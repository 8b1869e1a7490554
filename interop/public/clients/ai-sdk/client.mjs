// @ai-sdk/mcp: its client, with an answer to elicitation.

import { ElicitationRequestSchema, createMCPClient } from '@ai-sdk/mcp'

import { capabilities, context, main, target } from './steps.mjs'

const MOST_PAGES = 50
const called = { messages: [], toolCallId: 'call' }

function answer(request) {
  const action = context.answers?.elicitation ?? 'accept'
  if (action !== 'accept') return { action }
  const properties = Object.entries(request.params.requestedSchema?.properties ?? {})
  const defaults = properties.filter(([, schema]) => 'default' in schema).map(([name, schema]) => [name, schema.default])
  return { action, content: Object.fromEntries(defaults) }
}

// The library returns one page; a program that reads all limits their number.
async function pages(fetch, field) {
  const items = []
  let params = {}
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { [field]: some, nextCursor } = await fetch({ params })
    items.push(...some)
    if (nextCursor === undefined) return items
    params = { cursor: nextCursor }
  }
  throw new Error(`the list of ${field} does not end`)
}

async function connect() {
  const elicits = capabilities.includes('elicitation')
  const client = await createMCPClient({
    transport: { type: 'http', url: target },
    ...(elicits ? { capabilities: { elicitation: {} } } : {}),
  })
  if (elicits) client.onElicitationRequest(ElicitationRequestSchema, answer)
  let tools = {}
  const listTools = async () => {
    const listed = await pages((options) => client.listTools(options), 'tools')
    tools = client.toolsFromDefinitions({ tools: listed })
    return Object.fromEntries(listed.map((tool) => [tool.name, tool.inputSchema]))
  }
  return {
    close: () => client.close(),
    list_tools: listTools,
    call_tool: async (step) => {
      if (!(step.name in tools)) await listTools()
      await tools[step.name].execute(step.arguments ?? {}, called)
    },
    list_resources: () => pages((options) => client.listResources(options), 'resources'),
    list_templates: () => client.listResourceTemplates(),
    read_resource: ({ uri }) => client.readResource({ uri }),
    list_prompts: () => pages((options) => client.experimental_listPrompts(options), 'prompts'),
    get_prompt: (step) => client.experimental_getPrompt({ name: step.name, arguments: step.arguments }),
    complete: ({ ref, argument }) => client.complete({ ref, argument }),
  }
}

await main(
  connect,
  [
    ...['list_tools', 'call_tool', 'list_resources', 'list_templates', 'read_resource'],
    ...['list_prompts', 'get_prompt', 'complete'],
  ],
  ['elicitation'],
)
