// The fixtures of the official suite on version 1 of the TypeScript SDK: the handshake revisions, on stdio and
// Streamable HTTP. Questions are requests to the client; `choosy` tools ask all of theirs.
// Usage: server.mjs [--stdio | --port N] [--more]

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import * as types from '@modelcontextprotocol/sdk/types.js'

const options = { stdio: { type: 'boolean' }, more: { type: 'boolean' }, port: { type: 'string', default: '0' } }
const { values } = parseArgs({ options })
const FIXTURES = JSON.parse(readFileSync(new URL('../everything.json', import.meta.url), 'utf8'))
const PAUSE = 50
const PAGE = 2
const RESOURCE_NOT_FOUND = -32002
const SESSION_NOT_FOUND = -32001
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
const WATCHED = 'test://watched-resource'
const RESULTS = {
  'elicitation/create': types.ElicitResultSchema,
  'sampling/createMessage': types.CreateMessageResultSchema,
  'roots/list': types.ListRootsResultSchema,
}
const CAPABLE = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
  completions: {},
}

const tools = new Map([...FIXTURES.tools, ...(values.more ? FIXTURES.more_tools : [])].map((each) => [each.name, each]))
const prompts = new Map(FIXTURES.prompts.map((prompt) => [prompt.name, prompt]))
const resources = new Map(FIXTURES.resources.map((resource) => [resource.uri, resource]))
const cancelled = Promise.withResolvers()

const pick = (item, ...names) =>
  Object.fromEntries(names.filter((name) => name in item).map((name) => [name, item[name]]))
const pickAll = (items, ...names) => [...items.values()].map((item) => pick(item, ...names))

function lookup(items, name, code = types.ErrorCode.InvalidParams) {
  if (items.has(name)) return items.get(name)
  throw new types.McpError(code, `Not found: ${name}`)
}

// Put fields in the place of `{name}`, at any depth.
function filled(value, fields) {
  if (typeof value === 'string') {
    return Object.entries(fields).reduce((text, [name, field]) => text.replaceAll(`{${name}}`, field), value)
  }
  if (Array.isArray(value)) return value.map((item) => filled(item, fields))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, fields)]))
}

// Questions.

function described(answer) {
  if ('action' in answer) return `action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`
  if ('roots' in answer) return answer.roots.map((root) => root.uri).join(', ')
  return answer.content.text ?? answer.content.type
}

async function ask(item, fields, extra) {
  const answers = []
  for (const questions of filled(item.rounds, fields)) {
    for (const { method, params } of Object.values(questions)) {
      answers.push(await extra.sendRequest({ method, params }, RESULTS[method]))
    }
  }
  const forms = answers.filter((answer) => 'action' in answer).map((answer) => answer.content)
  return { ...Object.assign({}, ...forms), answers: answers.map(described).join('; ') }
}

// Tools that do something. `session` is the server of this client and its subscriptions.

// On the stream of the call: what `sendLoggingMessage` sends on another one may arrive after the answer.
async function log({ level }, { sendNotification }, data) {
  if (LEVELS.indexOf('info') < LEVELS.indexOf(level)) return
  await sendNotification({ method: 'notifications/message', params: { level: 'info', data, logger: 'fixtures' } })
}

async function report({ _meta, sendNotification }, progress, total) {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return
  await sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total } })
}

async function logThrice(session, extra) {
  await log(session, extra, 'Tool execution started')
  await pause(PAUSE)
  await log(session, extra, 'Tool processing data')
  await pause(PAUSE)
  await log(session, extra, 'Tool execution completed')
  return 'Tool with logging executed successfully'
}

async function logOnce(session, extra) {
  await log(session, extra, 'A message from the logging tool')
  return 'Logged'
}

async function reportProgress(session, extra) {
  for (const progress of [0, 50, 100]) {
    await report(extra, progress, 100)
    await pause(PAUSE)
  }
  return 'Tool with progress executed successfully'
}

async function closeStream(session, extra) {
  extra.closeSSEStream?.()
  await pause(PAUSE)
  return 'Reconnection test completed successfully. If you received this, the client reconnected properly.'
}

async function updateResource({ server, uris }) {
  resources.set(WATCHED, { ...resources.get(WATCHED), text: 'Watched resource content, changed' })
  if (uris.has(WATCHED)) await server.sendResourceUpdated({ uri: WATCHED })
  return `Changed ${WATCHED}`
}

function toggle(items, name, like) {
  if (items.delete(name)) return `Removed ${name}`
  items.set(name, { ...items.get(like), name })
  return `Added ${name}`
}

async function changeTools({ server }) {
  const done = toggle(tools, 'passing_tool', 'test_simple_text')
  await server.sendToolListChanged()
  return done
}

async function changePrompts({ server }) {
  const done = toggle(prompts, 'passing_prompt', 'test_simple_prompt')
  await server.sendPromptListChanged()
  return done
}

async function workUntilCancelled(session, extra) {
  await report(extra, 1, 2)
  await new Promise((resolve) => extra.signal.addEventListener('abort', resolve))
  cancelled.resolve()
  return 'cancelled'
}

async function awaitCancelled() {
  await cancelled.promise
  return 'cancelled'
}

const ACTS = {
  test_tool_with_logging: logThrice,
  test_logging_tool: logOnce,
  test_tool_with_progress: reportProgress,
  test_reconnection: closeStream,
  test_update_watched_resource: updateResource,
  test_trigger_tool_change: changeTools,
  test_trigger_prompt_change: changePrompts,
  test_slow: workUntilCancelled,
  test_await_cancelled: awaitCancelled,
}

// Handlers.

function listResources({ params }) {
  const listed = pickAll(resources, 'uri', 'name', 'description', 'mimeType')
  if (!values.more) return { resources: listed }
  const begin = Number(params?.cursor ?? 0)
  const end = begin + PAGE
  return { resources: listed.slice(begin, end), ...(end < listed.length && { nextCursor: String(end) }) }
}

function read({ params: { uri } }) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  if (id === undefined) {
    return { contents: [pick(lookup(resources, uri, RESOURCE_NOT_FOUND), 'uri', 'mimeType', 'text', 'blob')] }
  }
  const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
  return { contents: [{ uri, mimeType: 'application/json', text }] }
}

async function callTool(session, { params }, extra) {
  const tool = lookup(tools, params.name)
  if (tool.content) return pick(tool, 'content', 'structuredContent', 'isError')
  const act = ACTS[params.name]
  const text = act ? await act(session, extra) : filled(tool.says, await ask(tool, params.arguments ?? {}, extra))
  return { content: [{ type: 'text', text }] }
}

async function getPrompt({ params }, extra) {
  const prompt = lookup(prompts, params.name)
  const fields = prompt.rounds ? await ask(prompt, {}, extra) : (params.arguments ?? {})
  return { messages: filled(prompt.messages, fields) }
}

function complete({ params }) {
  const suggested = FIXTURES.suggestions.filter((word) => word.startsWith(params.argument.value))
  return { completion: { values: suggested, total: suggested.length, hasMore: false } }
}

function build() {
  const server = new Server(FIXTURES.server, { capabilities: CAPABLE })
  const session = { server, uris: new Set(), level: 'debug' }
  const on = (schema, handler) => server.setRequestHandler(schema, handler)
  on(types.ListToolsRequestSchema, () => ({
    tools: pickAll(tools, 'name', 'description', 'inputSchema', 'outputSchema'),
  }))
  on(types.CallToolRequestSchema, (request, extra) => callTool(session, request, extra))
  on(types.ListResourcesRequestSchema, listResources)
  on(types.ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: FIXTURES.templates }))
  on(types.ReadResourceRequestSchema, read)
  on(types.SubscribeRequestSchema, ({ params }) => (session.uris.add(params.uri), {}))
  on(types.UnsubscribeRequestSchema, ({ params }) => (session.uris.delete(params.uri), {}))
  on(types.ListPromptsRequestSchema, () => ({ prompts: pickAll(prompts, 'name', 'description', 'arguments') }))
  on(types.GetPromptRequestSchema, getPrompt)
  on(types.CompleteRequestSchema, complete)
  on(types.SetLevelRequestSchema, ({ params }) => ((session.level = params.level), {}))
  return server
}

// Transports.

const transports = new Map()

class Events {
  #stored = []

  async storeEvent(stream, message) {
    this.#stored.push({ stream, message })
    return String(this.#stored.length)
  }

  async getStreamIdForEventId(id) {
    return this.#stored[Number(id) - 1]?.stream
  }

  async replayEventsAfter(last, { send }) {
    const stream = await this.getStreamIdForEventId(last)
    for (const [index, event] of this.#stored.entries()) {
      const isMessage = event.message && Object.keys(event.message).length > 0
      if (index >= Number(last) && event.stream === stream && isMessage) {
        await send(String(index + 1), event.message)
      }
    }
    return stream
  }
}

async function open() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    eventStore: new Events(),
    retryInterval: 100,
    onsessioninitialized: (id) => transports.set(id, transport),
    onsessionclosed: (id) => transports.delete(id),
  })
  await build().connect(transport)
  return transport
}

async function serve(request, response) {
  const body = request.method === 'POST' ? await json(request) : undefined
  const id = request.headers['mcp-session-id']
  const transport = id === undefined ? await open() : transports.get(id)
  if (transport) return transport.handleRequest(request, response, body)
  const error = { code: SESSION_NOT_FOUND, message: 'Session not found' }
  response.writeHead(404, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }))
}

if (values.stdio) {
  await build().connect(new StdioServerTransport())
} else {
  const http = createServer(serve)
  http.listen(Number(values.port), '127.0.0.1', () =>
    console.log(`MCP endpoint: http://localhost:${http.address().port}/mcp`),
  )
}
