// Follow the steps of a scenario (docs/judge-clients.md) with a client library. The last argument is the URL of the
// server. What the library has no API for ends the program with status 127, before it connects.

export const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT)
export const capabilities = context.capabilities ?? []
export const target = process.argv.at(-1)

const UNABLE = 127
const composed = ['together', 'context_calls', 'call_listed', 'echo_schema']

// What the steps need and the library has not; a step that may fail is left out instead.
function lacking(steps, able) {
  return steps.flatMap((step) => [
    ...([...able, ...composed].includes(step.do) || step.may_fail ? [] : [step.do]),
    ...('timeout' in step && !able.includes('timeout') ? ['a time limit for a call'] : []),
    ...lacking(step.steps ?? [], able),
  ])
}

function without(steps, able) {
  return steps
    .filter((step) => [...able, ...composed].includes(step.do))
    .map((step) => (step.steps ? { ...step, steps: without(step.steps, able) } : step))
}

class Follower {
  tools = {}

  constructor(actions) {
    this.actions = {
      ...actions,
      together: ({ steps }) => Promise.all(steps.map((step) => this.take(step))),
      context_calls: () => this.follow(context.toolCalls.map((call) => ({ do: 'call_tool', ...call }))),
      call_listed: (step) => this.callListed(step.arguments),
      echo_schema: (step) =>
        this.take({ do: 'call_tool', name: step.with, arguments: { schema: this.tools[step.of] } }),
    }
  }

  async follow(steps) {
    for (const step of steps) await this.take(step)
  }

  async take(step) {
    try {
      const result = await this.actions[step.do](step)
      if (step.do === 'list_tools') this.tools = result
    } catch (error) {
      if (!step.may_fail) throw error
      console.error(`${step.do} failed, as it may: ${error}`)
    }
  }

  async callListed(values) {
    for (const name of Object.keys(this.tools)) {
      await this.take({ do: 'call_tool', name, arguments: values[name] ?? {}, may_fail: true })
    }
  }
}

// `able` are the actions, and 'timeout' if `call_tool` has one. `connect` returns the actions, and `close`.
export async function main(connect, able, declarable = []) {
  const needs = [
    ...lacking(context.steps, able),
    ...capabilities.filter((name) => !declarable.includes(name)),
    ...(context.oauth ? ['OAuth'] : []),
    ...(context.answers?.before_answering ? ['steps before an answer'] : []),
  ]
  if (needs.length) {
    console.error(`this client has no ${[...new Set(needs)].join(', ')}`)
    process.exit(UNABLE)
  }
  try {
    const { close, ...actions } = await connect()
    try {
      await new Follower(actions).follow(without(context.steps, able))
    } finally {
      await close()
    }
  } catch (error) {
    console.error(`${error?.name ?? 'Error'}: ${error?.message ?? error}`)
    process.exitCode = 1
  }
}
