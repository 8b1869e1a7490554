// A client of version 2 of the TypeScript SDK that does what a conformance scenario asks, for `assay client` and
// for the official suite:
//   node conformance-client.mjs URL
//   node conformance-client.mjs --server-command "COMMAND LINE"
// The steps come in MCP_CONFORMANCE_CONTEXT, or, when it has none, from ../client_steps.json by the scenario's name.

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

import {
  Client,
  SUPPORTED_PROTOCOL_VERSIONS,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

import { answer, capabilitiesNamed } from './conformance-answers.mjs'
import { providerFor } from './conformance-oauth.mjs'
import { Player, TIMEOUT } from './conformance-steps.mjs'

// The revision whose requests describe themselves; the others begin with a handshake.
const PER_REQUEST = '2026-07-28'

class Misuse extends Error {}

function described(error) {
  if (error instanceof Misuse) return error.message
  return `${error.name}: ${error.message}${error.cause ? `, because of ${described(error.cause)}` : ''}`
}

// The words of a command line, as a POSIX shell would part them.
function words(line) {
  const found = line.match(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/g) ?? []
  return found.map((word) =>
    word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g, (_, double, single, escaped) =>
      double === undefined ? (single ?? escaped) : double.replace(/\\(["\\$`])/g, '$1'),
    ),
  )
}

function whereTo() {
  const options = { 'server-command': { type: 'string' } }
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const line = values['server-command']
  if (line?.trim()) return { command: words(line) }
  const address = positionals.at(-1)
  if (!URL.canParse(address ?? '')) throw new Misuse('give the URL of a server, or --server-command "COMMAND LINE"')
  const url = new URL(address)
  if (/^wss?:$/.test(url.protocol)) throw new Misuse('this SDK has no WebSocket transport')
  if (!/^https?:$/.test(url.protocol)) throw new Misuse(`no transport for ${url.protocol} URLs: give http or https`)
  return { url }
}

function readContext() {
  try {
    return JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || '{}')
  } catch (error) {
    throw new Misuse(`MCP_CONFORMANCE_CONTEXT is not JSON: ${error.message}`)
  }
}

// What to do: `steps`, `capabilities`, `answers`, `oauth`, and the scenario's own data.
function readPlan() {
  const context = readContext()
  if (context.steps) return context
  const name = process.env.MCP_CONFORMANCE_SCENARIO ?? context.name ?? 'no scenario'
  const plans = JSON.parse(readFileSync(new URL('../client_steps.json', import.meta.url), 'utf8'))
  if (!Object.hasOwn(plans, name)) throw new Misuse(`no steps in MCP_CONFORMANCE_CONTEXT, none known for ${name}`)
  return { ...plans[name], ...context }
}

// Offer the revision that is asked for; the server may still answer with an older one.
function versionOptions(revision) {
  if (revision === PER_REQUEST) return { versionNegotiation: { mode: 'auto' } }
  const offered = SUPPORTED_PROTOCOL_VERSIONS.indexOf(revision)
  return { supportedProtocolVersions: SUPPORTED_PROTOCOL_VERSIONS.slice(Math.max(offered, 0)) }
}

class Connection {
  constructor(target, plan) {
    this.target = target
    this.plan = plan
    this.provider = target.url && providerFor(plan)
    this.player = new Player(this, plan)
  }

  async open() {
    await this.authorized(async () => {
      // A transport starts only once, so another attempt needs another one.
      this.transport = this.#transport()
      this.client = this.#client()
      await this.client.connect(this.transport, { timeout: TIMEOUT })
    })
  }

  #transport() {
    const { url, command } = this.target
    if (url) return new StreamableHTTPClientTransport(url, { authProvider: this.provider })
    return new StdioClientTransport({ command: command[0], args: command.slice(1) })
  }

  #client() {
    const client = new Client(
      { name: 'typescript-sdk-2-conformance', version: '1.0.0' },
      {
        capabilities: capabilitiesNamed(this.plan.capabilities ?? []),
        ...versionOptions(process.env.MCP_CONFORMANCE_PROTOCOL_VERSION),
      },
    )
    client.onerror = (error) => console.error(`from the connection: ${described(error)}`)
    this.player.hear(client)
    answer(client, this.plan, () => this.player.beforeAnswering())
    return client
  }

  // Do `work`; when the server wants the user's consent first, make it count and do the work again.
  async authorized(work) {
    for (;;) {
      const redeemed = this.provider?.redeemed
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof UnauthorizedError) || redeemed === undefined) throw error
        // Meanwhile other work may have brought what this one lacks.
        if (this.provider.redeemed > redeemed) continue
        if (!this.provider.consented) throw error
        await this.provider.redeem((callback) => this.transport.finishAuth(callback))
      }
    }
  }

  // A server that does not take leave properly is no reason to fail.
  async close() {
    try {
      await this.player.stop()
      await this.transport.terminateSession?.()
    } catch (error) {
      console.error(`while closing: ${described(error)}`)
    }
    await this.client.close()
  }
}

async function main() {
  const target = whereTo()
  const plan = readPlan()
  const connection = new Connection(target, plan)
  await connection.open()
  try {
    await (plan.report ? connection.player.report(plan.steps) : connection.player.play(plan.steps))
  } finally {
    await connection.close()
  }
}

try {
  await main()
} catch (error) {
  console.error(described(error))
  process.exitCode = 1
}
// Exit now, although a server may still send an answer that is not needed.
process.exit()
