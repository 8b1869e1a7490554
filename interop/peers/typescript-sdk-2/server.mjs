// The fixtures of the official suite on version 2 of the TypeScript SDK: sessions for the handshake revisions,
// a fresh server for each request of the newest. What a tool asks, the SDK sends as requests where it must.
// Left out: the extensions (tasks, skills), which this SDK does not have.
// Usage: server.mjs [--stdio | --port N] [--more]

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
  toWebRequest,
} from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  isLegacyRequest,
  McpServer,
  ProtocolError,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const options = { stdio: { type: 'boolean' }, more: { type: 'boolean' }, port: { type: 'string', default: '0' } }
const { values } = parseArgs({ options })
const FIXTURES = JSON.parse(readFileSync(new URL('../everything.json', import.meta.url), 'utf8'))
const PAUSE = 50
const PAGE = 2
const NEWEST = '2026-07-28'
const INVALID_PARAMS = -32602
const PARSE_ERROR = -32700
const SESSION_NOT_FOUND = -32001
const WATCHED = 'test://watched-resource'
const CAPABILITIES = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}
const CAPABLE = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
  completions: {},
}
const FRESH = { ttlMs: 1000, cacheScope: 'public' }

const tools = new Map([...FIXTURES.tools, ...(values.more ? FIXTURES.more_tools : [])].map((each) => [each.name, each]))
const prompts = new Map(FIXTURES.prompts.map((prompt) => [prompt.name, prompt]))
const resources = new Map(FIXTURES.resources.map((resource) => [resource.uri, resource]))
// Servers of open sessions: what changes in one changes in all.
const live = new Set()
const cancelled = Promise.withResolvers()
const states = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) })

const say = (text, more = {}) => ({ content: [{ type: 'text', text }], ...more })
const pick = (item, ...names) =>
  Object.fromEntries(names.filter((name) => name in item).map((name) => [name, item[name]]))
const pickAll = (items, ...names) => [...items.values()].map((item) => pick(item, ...names))

function found(items, name) {
  if (items.has(name)) return items.get(name)
  throw new ProtocolError(INVALID_PARAMS, `Not found: ${name}`)
}

// Put fields in the place of `{name}`, however deep.
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

function fieldsOf(answers) {
  const forms = Object.values(answers).map((answer) => ('action' in answer ? answer.content : undefined))
  const all = Object.values(answers).map(described).join('; ')
  return { ...Object.assign({}, ...forms), answers: all }
}

// Whether a form is filled in as it was asked; who declines or cancels need not.
function fits({ params }, answer) {
  if (answer.action !== 'accept') return true
  return !fromJsonSchema(params.requestedSchema)['~standard'].validate(answer.content).issues
}

// Gives all answers, or what to ask next. A stateful item keeps in its state what is answered already.
async function ask(server, item, fields, { mcpReq }) {
  const given = Object.entries({ ...mcpReq.requestState(), ...mcpReq.inputResponses })
  const answers = Object.fromEntries(given.filter(([key]) => item.rounds.some((round) => key in round)))
  const can = server.server.getClientCapabilities() ?? {}
  for (const questions of filled(item.rounds, fields)) {
    const open = Object.entries(questions).filter(([key, one]) => !(key in answers && fits(one, answers[key])))
    const asked = open.filter(([, { method }]) => !item.choosy || CAPABILITIES[method] in can)
    // Who asks several is content with the first that answers.
    if (open.length > 0 && !(item.choosy && open.length < Object.keys(questions).length)) {
      const requestState = item.stateful ? await states.mint(answers) : undefined
      return { next: inputRequired({ inputRequests: Object.fromEntries(asked), requestState }) }
    }
  }
  return { answers }
}

// Tools that do something.

const log = ({ mcpReq }, data) => mcpReq.log('info', data, 'fixtures')

async function logThrice(ctx) {
  await log(ctx, 'Tool execution started')
  await pause(PAUSE)
  await log(ctx, 'Tool processing data')
  await pause(PAUSE)
  await log(ctx, 'Tool execution completed')
  return 'Tool with logging executed successfully'
}

async function logOnce(ctx) {
  await log(ctx, 'A message from the logging tool')
  return 'Logged'
}

async function report({ mcpReq }, progress, total) {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total } })
}

async function reportProgress(ctx) {
  for (const progress of [0, 50, 100]) {
    await report(ctx, progress, 100)
    await pause(PAUSE)
  }
  return 'Tool with progress executed successfully'
}

async function closeStream({ http }) {
  http?.closeSSE?.()
  await pause(PAUSE)
  return 'Reconnection test completed successfully. If you received this, the client reconnected properly.'
}

async function updateResource() {
  resources.set(WATCHED, { ...resources.get(WATCHED), text: 'Watched resource content, changed' })
  modern.notify.resourceUpdated(WATCHED)
  for (const { server, uris } of live) {
    // On stdio, the SDK itself knows what a client of the newest revision listens to.
    if (uris.has(WATCHED) || server.server.getNegotiatedProtocolVersion() === NEWEST) await server.server.sendResourceUpdated({ uri: WATCHED })
  }
  return `Changed ${WATCHED}`
}

async function changeTools() {
  const passing = { ...tools.get('test_simple_text'), name: 'passing_tool' }
  const gone = tools.delete(passing.name)
  if (!gone) tools.set(passing.name, passing)
  for (const one of live) {
    if (gone) one.registered.get(passing.name)?.remove()
    else offer(one, passing)
  }
  modern.notify.toolsChanged()
  return gone ? 'Removed a tool' : 'Added a tool'
}

async function changePrompts() {
  const gone = prompts.delete('passing_prompt')
  if (!gone) prompts.set('passing_prompt', { ...prompts.get('test_simple_prompt'), name: 'passing_prompt' })
  for (const { server } of live) await server.server.sendPromptListChanged()
  modern.notify.promptsChanged()
  return gone ? 'Removed a prompt' : 'Added a prompt'
}

async function workUntilCancelled(ctx) {
  await report(ctx, 1, 2)
  await new Promise((resolve) => ctx.mcpReq.signal.addEventListener('abort', resolve))
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

// A server: tools through its registry, which knows their schemas, the rest by method.

function offer({ server, registered }, tool) {
  const outputSchema = tool.outputSchema && fromJsonSchema(tool.outputSchema)
  const definition = { description: tool.description, inputSchema: fromJsonSchema(tool.inputSchema), outputSchema }
  const call = async (args, ctx) => {
    if (tool.name in ACTS) return say(await ACTS[tool.name](ctx))
    if (tool.content) return pick(tool, 'content', 'structuredContent', 'isError')
    const { next, answers } = await ask(server, tool, args, ctx)
    return next ?? say(filled(tool.says, fieldsOf(answers)))
  }
  registered.set(tool.name, server.registerTool(tool.name, definition, call))
}

function listResources({ params }) {
  const listed = pickAll(resources, 'uri', 'name', 'description', 'mimeType')
  if (!values.more) return { resources: listed }
  const begin = Number(params?.cursor ?? 0)
  const end = begin + PAGE
  return { resources: listed.slice(begin, end), ...(end < listed.length && { nextCursor: String(end) }) }
}

function read({ params: { uri } }) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  if (id === undefined && !resources.has(uri)) throw new ResourceNotFoundError(uri)
  if (id === undefined) return { contents: [pick(resources.get(uri), 'uri', 'mimeType', 'text', 'blob')] }
  const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
  return { contents: [{ uri, mimeType: 'application/json', text }] }
}

async function getPrompt(server, { params }, ctx) {
  const prompt = found(prompts, params.name)
  const missing = prompt.arguments.map(({ name }) => name).filter((name) => !(name in (params.arguments ?? {})))
  if (missing.length > 0) throw new ProtocolError(INVALID_PARAMS, `Missing arguments: ${missing.join(', ')}`)
  if (!prompt.rounds) return { messages: filled(prompt.messages, params.arguments ?? {}) }
  const { next, answers } = await ask(server, prompt, {}, ctx)
  return next ?? { messages: filled(prompt.messages, fieldsOf(answers)) }
}

function complete({ params }) {
  if (params.ref.type === 'ref/prompt') found(prompts, params.ref.name)
  const values = FIXTURES.suggestions.filter((word) => word.startsWith(params.argument.value))
  return { completion: { values, total: values.length, hasMore: false } }
}

function build() {
  const server = new McpServer(FIXTURES.server, {
    capabilities: CAPABLE,
    requestState: { verify: states.verify },
    cacheHints: { 'tools/list': FRESH, 'prompts/list': FRESH, 'resources/read': FRESH },
  })
  const one = { server, registered: new Map(), uris: new Set() }
  for (const tool of tools.values()) offer(one, tool)
  const on = (method, handler) => server.server.setRequestHandler(method, handler)
  on('resources/list', listResources)
  on('resources/templates/list', () => ({ resourceTemplates: FIXTURES.templates }))
  on('resources/read', read)
  on('resources/subscribe', ({ params }) => (one.uris.add(params.uri), {}))
  on('resources/unsubscribe', ({ params }) => (one.uris.delete(params.uri), {}))
  on('prompts/list', () => ({ prompts: pickAll(prompts, 'name', 'description', 'arguments') }))
  on('prompts/get', (request, ctx) => getPrompt(server, request, ctx))
  on('completion/complete', complete)
  return one
}

// The two ways to be served over HTTP.

const modern = createMcpHandler(() => build().server, { legacy: 'reject' })
const transports = new Map()

class Events {
  #kept = []

  async storeEvent(stream, message) {
    this.#kept.push({ stream, message })
    return String(this.#kept.length)
  }

  async getStreamIdForEventId(id) {
    return this.#kept[Number(id) - 1]?.stream
  }

  async replayEventsAfter(last, { send }) {
    const stream = await this.getStreamIdForEventId(last)
    for (const [index, event] of this.#kept.entries()) {
      const isMessage = event.message && Object.keys(event.message).length > 0
      if (index >= Number(last) && event.stream === stream && isMessage) {
        await send(String(index + 1), event.message)
      }
    }
    return stream
  }
}

async function session() {
  const one = build()
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    eventStore: new Events(),
    retryInterval: 100,
    onsessioninitialized: (id) => {
      transports.set(id, transport)
      live.add(one)
    },
    onsessionclosed: (id) => {
      transports.delete(id)
      live.delete(one)
    },
  })
  await one.server.connect(transport)
  return transport
}

function refuse(response, status, code, message) {
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }))
}

async function serveSession(request, response, body) {
  const id = request.headers['mcp-session-id']
  const transport = id === undefined ? await session() : transports.get(id)
  if (transport) await transport.handleRequest(request, response, body)
  else refuse(response, 404, SESSION_NOT_FOUND, 'Session not found')
}

const serveRequest = toNodeHandler(modern)

async function serve(request, response) {
  let body
  try {
    if (request.method === 'POST') body = await json(request)
  } catch {
    return refuse(response, 400, PARSE_ERROR, 'The body is no JSON')
  }
  const isLegacy = await isLegacyRequest(await toWebRequest(request, body), body)
  return (isLegacy ? serveSession : serveRequest)(request, response, body)
}

function serveHttp(port) {
  const validHost = localhostHostValidation()
  const validOrigin = localhostOriginValidation()
  const http = createServer((request, response) => {
    if (validHost(request, response) && validOrigin(request, response)) serve(request, response)
  })
  http.listen(port, '127.0.0.1', () => console.log(`MCP endpoint: http://localhost:${http.address().port}/mcp`))
}

const serveOne = () => {
  const one = build()
  live.add(one)
  return one.server
}
if (values.stdio) serveStdio(serveOne)
else serveHttp(Number(values.port))
