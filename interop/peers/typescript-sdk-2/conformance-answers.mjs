// What the client declares, and how it answers when the server asks it something.

import { randomUUID } from 'node:crypto'

import { ProtocolError, ProtocolErrorCode, mergeCapabilities } from '@modelcontextprotocol/client'

const DECLARED = {
  elicitation: { elicitation: { form: {} } },
  'elicitation.url': { elicitation: { url: {} } },
  sampling: { sampling: {} },
  'sampling.tools': { sampling: { tools: {} } },
  roots: { roots: {} },
  'roots.listChanged': { roots: { listChanged: true } },
}

export function capabilitiesNamed(names) {
  return names.reduce((all, name) => mergeCapabilities(all, DECLARED[name]), {})
}

const FORMATS = {
  email: 'ada@example.org',
  uri: 'https://example.org/',
  date: '2026-07-28',
  'date-time': '2026-07-28T12:00:00Z',
}

function plausibleText({ format, minLength = 0, maxLength = Infinity }) {
  return FORMATS[format] ?? 'plausible'.padEnd(minLength, '.').slice(0, maxLength)
}

const PLAUSIBLE = {
  string: (schema) => schema.enum?.[0] ?? schema.oneOf?.[0].const ?? plausibleText(schema),
  number: ({ minimum, maximum }) => minimum ?? Math.min(1, maximum ?? 1),
  integer: ({ minimum, maximum }) => Math.ceil(minimum ?? Math.min(1, maximum ?? 1)),
  boolean: () => true,
  array: ({ items, minItems = 1 }) => (items.enum ?? items.anyOf.map((one) => one.const)).slice(0, minItems),
}

// What a user would leave in the form: its defaults, and something plausible where it has none.
function filled({ properties = {} }) {
  const value = (schema) => schema.default ?? PLAUSIBLE[schema.type ?? 'string'](schema)
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, value(schema)]))
}

function elicited(params, action = 'decline') {
  if (action !== 'accept' || params.mode === 'url') return { action }
  return { action, content: filled(params.requestedSchema) }
}

// What a model would say: a text, or the use of a tool where the server insists on one.
function said({ tools, toolChoice }, { text = 'A plausible answer.' } = {}) {
  if (toolChoice?.mode !== 'required') return { stopReason: 'endTurn', content: { type: 'text', text } }
  const [{ name, inputSchema }] = tools
  return { stopReason: 'toolUse', content: { type: 'tool_use', id: randomUUID(), name, input: filled(inputSchema) } }
}

// The SDK does not refuse tools that were never declared: that is left to us.
function sampled(params, answer, declared) {
  const undeclared = (params.tools || params.toolChoice) && !declared.tools
  if (undeclared) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'sampling.tools is not declared')
  return { role: 'assistant', model: 'conformance', ...said(params, answer) }
}

// Register handlers for what is declared; `first` is awaited before each answer.
export function answer(client, plan, first) {
  const answers = (plan.answers ??= {})
  const declared = capabilitiesNamed(plan.capabilities ?? [])
  const handlers = {
    elicitation: ['elicitation/create', ({ params }) => elicited(params, answers.elicitation)],
    sampling: ['sampling/createMessage', ({ params }) => sampled(params, answers.sampling, declared.sampling)],
    roots: ['roots/list', () => ({ roots: answers.roots ?? [] })],
  }
  for (const name of Object.keys(declared)) {
    const [method, handler] = handlers[name]
    client.setRequestHandler(method, async (request) => {
      await first()
      return handler(request)
    })
  }
}
