// Every feature of our servers, as a client of the TypeScript SDK uses it: one JSON line for each on standard
// output, `ok` null where the transport has no such feature. The `peer` given to `main` hides what differs
// between the versions of the SDK: how a client is made, and how results and handlers are named.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

const STEP_TIMEOUT = 20_000
// How long nothing must arrive before a client believes that nothing will.
const SILENCE = 500
const WATCHED = 'test://watched-resource'
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'
// The revision whose requests describe themselves; the others begin with a handshake.
export const PER_REQUEST = '2026-07-28'
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47])

class NoApi extends Error {}

// What the client's handlers received, and what the next one will receive.
class Seen {
  logs = []
  updates = []
  asked = []
  #waiting = []

  handlers = {
    sampling: async ({ params }) => {
      this.asked.push(params.messages[0].content.text)
      return { role: 'assistant', model: 'interop', content: { type: 'text', text: 'sampled by the client' } }
    },
    elicitation: async ({ params }) => {
      this.asked.push(params.message)
      return { action: 'accept', content: { username: 'ada', email: 'ada@example.org' } }
    },
    log: ({ params }) => void this.logs.push(params.data),
    updated: ({ params }) => {
      this.updates.push(params.uri)
      for (const wake of this.#waiting.splice(0)) wake()
    },
  }

  async update() {
    if (this.updates.length === 0) await new Promise((wake) => this.#waiting.push(wake))
    return this.updates.shift()
  }
}

// Watches the requests of one HTTP transport, through the `fetch` that the SDK lets us give it.
class Wire {
  resumptions = 0

  fetch = (url, init) => {
    if (new Headers(init?.headers).has('last-event-id')) this.resumptions += 1
    return fetch(url, init)
  }
}

class Program {
  constructor(peer, targets) {
    this.peer = peer
    this.targets = targets
    this.seen = new Seen()
    this.perRequest = targets.revision === PER_REQUEST
  }

  // `options`: `fetch` replaces the transport's own.
  async open(target, options = {}) {
    const transport = Array.isArray(target) ? this.peer.stdio(target) : this.peer.http(new URL(target), options)
    const client = this.peer.client(this.seen.handlers, this.targets.revision)
    await client.connect(transport)
    return { client, transport, close: () => client.close() }
  }

  async start() {
    this.everything = (await this.open(this.targets.everything)).client
    this.fixture = (await this.open(this.targets.fixture)).client
  }

  async stop() {
    await Promise.all([this.everything.close(), this.fixture.close()])
  }

  async text(tool, args = {}, options = {}, client = this.everything) {
    const result = await this.peer.callTool(client, { name: tool, arguments: args }, options)
    assert.ok(!result.isError, JSON.stringify(result.content))
    return result.content[0].text
  }

  // Connect over HTTP with a `Wire`; `without` says what stdio lacks.
  async watched(url, without, work) {
    if (typeof url !== 'string') throw new NoApi(without)
    if (this.perRequest) throw new NoApi(`revision ${PER_REQUEST} has no sessions and no streams to return to`)
    const wire = new Wire()
    const connection = await this.open(url, { fetch: wire.fetch })
    try {
      return await work(connection, wire)
    } finally {
      await connection.close()
    }
  }

  async connect() {
    const { client, transport, close } = await this.open(this.targets.everything)
    assert.equal(client.getServerVersion().name, 'mcp-conformance-test-server')
    await client.listTools()
    const revision = this.peer.revision(client, transport)
    await close()
    // Version 1 tells what was negotiated only over HTTP.
    if (revision !== undefined) assert.equal(revision, this.targets.revision)
    return revision ? `negotiated ${revision}` : 'connected'
  }

  async tools() {
    const names = (await this.everything.listTools()).tools.map((tool) => tool.name)
    assert.ok(names.includes('test_simple_text'), names.join())
    assert.equal(await this.text('test_simple_text'), 'This is a simple text response for testing.')
    return `${names.length} tools`
  }

  async image() {
    const { content } = await this.peer.callTool(this.everything, { name: 'test_image_content', arguments: {} })
    assert.equal(content[0].type, 'image')
    assert.ok(Buffer.from(content[0].data, 'base64').subarray(0, 4).equals(PNG))
    return content[0].mimeType
  }

  async toolError() {
    const result = await this.peer.callTool(this.everything, { name: 'test_error_handling', arguments: {} })
    assert.equal(result.isError, true)
    return result.content[0].text
  }

  async resources() {
    const listed = (await this.everything.listResources()).resources.map((resource) => resource.uri)
    assert.ok(listed.includes('test://static-text'), listed.join())
    const text = await this.everything.readResource({ uri: 'test://static-text' })
    assert.match(text.contents[0].text, /static text/)
    const binary = await this.everything.readResource({ uri: 'test://static-binary' })
    assert.ok(Buffer.from(binary.contents[0].blob, 'base64').subarray(0, 4).equals(PNG))
    return `${listed.length} resources`
  }

  async templates() {
    const { resourceTemplates } = await this.everything.listResourceTemplates()
    assert.deepEqual(resourceTemplates.map((template) => template.uriTemplate), ['test://template/{id}/data'])
    const data = await this.everything.readResource({ uri: 'test://template/42/data' })
    assert.match(data.contents[0].text, /Data for ID: 42/)
    return resourceTemplates[0].uriTemplate
  }

  async prompts() {
    const { prompts } = await this.everything.listPrompts()
    const args = { arg1: 'one', arg2: 'two' }
    const prompt = await this.everything.getPrompt({ name: 'test_prompt_with_arguments', arguments: args })
    assert.equal(prompt.messages[0].content.text, "Prompt with arguments: arg1='one', arg2='two'")
    return `${prompts.length} prompts`
  }

  async completion() {
    const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' }
    const { completion } = await this.everything.complete({ ref, argument: { name: 'arg1', value: 'par' } })
    assert.deepEqual([...completion.values].sort(), ['paris', 'park', 'party'])
    return completion.values.join(', ')
  }

  async logging() {
    this.seen.logs.length = 0
    for (const level of ['info', 'error']) {
      if (!this.perRequest) await this.everything.setLoggingLevel(level)
      const _meta = this.perRequest ? { [LOG_LEVEL]: level } : undefined
      await this.peer.callTool(this.everything, { name: 'test_tool_with_logging', arguments: {}, _meta })
      await pause(SILENCE)
      assert.equal(this.seen.logs.length, 3, `messages after level ${level}`)
    }
    return '3 messages at info, none at error'
  }

  // The SDK runs notification handlers later than response handlers, so the last report is lost to the callback
  // when it arrives in one piece with the answer (typescript-sdk issue 2580). What arrived is seen below it.
  async progress() {
    const { client, transport, close } = await this.open(this.targets.everything)
    const arrived = []
    const deliver = transport.onmessage
    transport.onmessage = (message, extra) => {
      if (message.method === 'notifications/progress') arrived.push(message.params.progress)
      deliver(message, extra)
    }
    const reported = []
    const onprogress = ({ progress }) => void reported.push(progress)
    await this.text('test_tool_with_progress', {}, { onprogress }, client)
    await close()
    assert.deepEqual(arrived, [0, 50, 100])
    assert.deepEqual(reported.slice(0, 2), [0, 50])
    return '0, 50, 100 of 100'
  }

  async subscription() {
    const unsubscribe = await this.subscribe()
    await this.text('test_update_watched_resource', { text: 'changed by TypeScript' })
    assert.equal(await this.seen.update(), WATCHED)
    const { contents } = await this.everything.readResource({ uri: WATCHED })
    assert.equal(contents[0].text, 'changed by TypeScript')
    await unsubscribe()
    await this.text('test_update_watched_resource', { text: 'changed again' })
    await pause(SILENCE)
    assert.deepEqual(this.seen.updates, [])
    return 'updated once, silent after the subscription ended'
  }

  // Subscribe in the way of the revision, and give what ends it.
  async subscribe() {
    if (this.perRequest) return this.peer.listen(this.everything, WATCHED)
    await this.everything.subscribeResource({ uri: WATCHED })
    return () => this.everything.unsubscribeResource({ uri: WATCHED })
  }

  async sampling() {
    this.seen.asked.length = 0
    const said = await this.text('test_sampling', { prompt: 'a question' })
    assert.equal(said, 'LLM response: sampled by the client')
    assert.deepEqual(this.seen.asked, ['a question'])
    return said
  }

  async elicitation() {
    this.seen.asked.length = 0
    const said = await this.text('test_elicitation', { message: 'who are you?' })
    assert.deepEqual(this.seen.asked, ['who are you?'])
    assert.match(said, /action=accept.*ada@example\.org/)
    return said
  }

  async cancel() {
    const token = randomUUID()
    const controller = new AbortController()
    const options = { signal: controller.signal, onprogress: () => controller.abort('interop') }
    await assert.rejects(this.text('last', { token }, options, this.fixture))
    assert.equal(await this.text('await_cancelled', { token }, {}, this.fixture), 'cancelled')
    return 'by an AbortSignal'
  }

  async pagination() {
    const names = []
    const sizes = []
    // An explicit cursor asks for one page; without one, version 2 walks them all by itself.
    let page = await this.peer.firstPage(this.fixture)
    for (;;) {
      names.push(...page.tools.map((tool) => tool.name))
      sizes.push(page.tools.length)
      if (page.nextCursor === undefined) break
      page = await this.fixture.listTools({ cursor: page.nextCursor })
    }
    assert.deepEqual(sizes, [2, 2, 1])
    assert.equal(new Set(names).size, 5)
    return '5 tools on 3 pages'
  }

  async reconnect() {
    const { client, close } = await this.open(this.targets.everything)
    await this.text('test_simple_text', {}, {}, client)
    await close()
    const again = await this.open(this.targets.everything)
    await this.text('test_simple_text', {}, {}, again.client)
    await again.close()
    return 'a second connection after the first was closed'
  }

  polling() {
    const without = 'stdio has no streams to close and poll'
    return this.watched(this.targets.everything, without, async ({ client }, wire) => {
      assert.match(await this.text('test_reconnection', {}, {}, client), /^Reconnection test completed/)
      assert.ok(wire.resumptions > 0, 'the client never asked for the rest of a stream')
      return 'returned for the answer'
    })
  }

  resume() {
    const without = 'stdio cannot lose its connection and keep its server'
    return this.watched(this.targets.relayed, without, async ({ client }, wire) => {
      const token = randomUUID()
      const seen = []
      const onprogress = ({ progress }) => void seen.push(progress)
      const said = await this.text('interrupted', { token }, { onprogress }, client)
      assert.equal(said, `answered after the cut: ${token}`)
      assert.deepEqual(seen, [1, 2])
      assert.ok(wire.resumptions > 0, 'the client never asked for the rest of a stream')
      return 'answer and progress came after the cut'
    })
  }

  deleteSession() {
    const url = this.targets.everything
    return this.watched(url, 'stdio has no session to delete', async ({ transport }) => {
      const headers = {
        'mcp-session-id': transport.sessionId,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }
      await transport.terminateSession()
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
      const answer = await fetch(url, { method: 'POST', headers, body })
      assert.equal(answer.status, 404)
      return '404 afterwards'
    })
  }

  // Its capabilities hold keys that no SDK knows; everything else is as usual.
  async referenceServer() {
    const { client, close } = await this.open(this.targets.reference)
    assert.equal(client.getServerVersion().name, 'RefMCP-TestServer')
    const total = await this.peer.callTool(client, { name: 'sum', arguments: { a: 7, b: 8 } })
    assert.deepEqual(total.structuredContent, { total: 15 })
    assert.match(await this.text('get_weather', { location: 'Phoenix' }, {}, client), /85°F/)
    const { contents } = await client.readResource({ uri: 'file:///resources/todo.txt' })
    assert.match(contents[0].text, /List the tools/)
    const prompt = await client.getPrompt({ name: 'code_review', arguments: { code: 'x = 1', language: 'Rust' } })
    assert.equal(prompt.messages[0].content.text, 'Please review this Rust code:\nx = 1')
    await close()
    return 'tools, a resource, a prompt'
  }

  // Methods that the protocol does not have, through the SDK's general request function.
  async ownMethods() {
    const { client, close } = await this.open(this.targets.reference)
    for (const name of ['claude-v2', 'gpt-4']) {
      const selected = await this.peer.request(client, { method: 'models/select', params: { name } })
      assert.equal(selected.active, name)
      const listed = await this.peer.request(client, { method: 'models/list', params: {} })
      assert.equal(listed.active, name)
    }
    await close()
    return 'models/select, models/list'
  }

  steps() {
    return {
      connect: this.connect,
      tools: this.tools,
      image: this.image,
      'tool error': this.toolError,
      resources: this.resources,
      templates: this.templates,
      prompts: this.prompts,
      completion: this.completion,
      logging: this.logging,
      progress: this.progress,
      subscription: this.subscription,
      sampling: this.sampling,
      elicitation: this.elicitation,
      cancel: this.cancel,
      pagination: this.pagination,
      reconnect: this.reconnect,
      polling: this.polling,
      resume: this.resume,
      'delete session': this.deleteSession,
      'reference server': this.referenceServer,
      'own methods': this.ownMethods,
    }
  }
}

async function verdict(program, step) {
  const late = pause(STEP_TIMEOUT, undefined, { ref: false }).then(() => {
    throw new Error(`no outcome within ${STEP_TIMEOUT / 1000} s`)
  })
  try {
    return { ok: true, detail: await Promise.race([step.call(program), late]) }
  } catch (error) {
    if (error instanceof NoApi) return { ok: null, detail: error.message }
    console.error(error)
    return { ok: false, detail: `${error.name}: ${error.message}` }
  }
}

export async function main(peer) {
  const program = new Program(peer, JSON.parse(process.argv[2]))
  await program.start()
  for (const [feature, step] of Object.entries(program.steps())) {
    console.log(JSON.stringify({ feature, ...(await verdict(program, step)) }))
  }
  await program.stop()
}
