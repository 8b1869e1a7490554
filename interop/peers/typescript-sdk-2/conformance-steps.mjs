// The steps of a scenario, each by the SDK's own function for it.

import { LOG_LEVEL_META_KEY, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'

// Shorter than the time-out of a harness, so that a silent server gets a cancellation.
// In a matrix, a server may need longer to start on a busy machine.
export const TIMEOUT = process.env.MCP_CONFORMANCE_SCENARIO === 'matrix' ? 45_000 : 20_000
const LIST_CHANGED = 'notifications/tools/list_changed'

// The notifications that arrived and that no step has waited for yet.
class Heard {
  #arrived = []
  #waiting = new Set()

  add(method) {
    this.#arrived.push(method)
    for (const look of this.#waiting) look()
  }

  #take(method) {
    const index = this.#arrived.indexOf(method)
    return index >= 0 && this.#arrived.splice(index, 1).length > 0
  }

  async next(method, seconds) {
    const { promise, resolve, reject } = Promise.withResolvers()
    const look = () => this.#take(method) && resolve()
    const late = setTimeout(() => reject(new Error(`no ${method} within ${seconds} s`)), seconds * 1000)
    this.#waiting.add(look)
    look()
    try {
      await promise
    } finally {
      clearTimeout(late)
      this.#waiting.delete(look)
    }
  }
}

export class Player {
  #connection
  #plan
  #heard = new Heard()
  #subscriptions = []
  #answering = false
  #skills = []
  #meta

  constructor(connection, plan) {
    this.#connection = connection
    this.#plan = plan
  }

  get #client() {
    return this.#connection.client
  }

  hear(client) {
    client.fallbackNotificationHandler = async ({ method }) => this.#heard.add(method)
  }

  async play(steps) {
    for (const step of steps) await this.#try(step)
  }

  // Take all steps, and print a line of JSON about each (docs/matrix.md).
  async report(steps) {
    for (const [number, step] of steps.entries()) {
      const line = { step: number, ok: true }
      try {
        await this.#try(step)
      } catch (error) {
        Object.assign(line, { ok: false, detail: `${error.name}: ${error.message}` })
      }
      console.log(JSON.stringify(line))
    }
  }

  async #try(step) {
    const { do: name, may_fail: mayFail, ...settings } = step
    const work = this.#steps[name]
    if (!work) throw new Error(`this client has no step ${name}`)
    try {
      await this.#connection.authorized(() => work(settings))
      console.log(`${name}: done`)
    } catch (error) {
      if (!mayFail) throw error
      console.error(`${name} failed, as it may: ${error.name}: ${error.message}`)
    }
  }

  // Not again for what those steps themselves are asked.
  async beforeAnswering() {
    if (this.#answering) return
    this.#answering = true
    try {
      await this.play(this.#plan.answers.before_answering ?? [])
    } finally {
      this.#answering = false
    }
  }

  async stop() {
    for (const subscription of this.#subscriptions.splice(0)) await subscription.close()
  }

  async #call({ name, arguments: args, timeout }) {
    const params = { name, arguments: args, ...(this.#meta && { _meta: this.#meta }) }
    const onprogress = ({ progress, total }) => console.log(`${name}: ${progress} of ${total ?? 'many'}`)
    if (timeout === undefined) return this.#client.callTool(params, { timeout: TIMEOUT, onprogress })
    try {
      return await this.#client.callTool(params, { timeout: timeout * 1000, onprogress })
    } catch (error) {
      if (!(error instanceof SdkError) || error.code !== SdkErrorCode.RequestTimeout) throw error
      console.error(`gave up ${name} after ${timeout} s, as asked`)
    }
  }

  // For good, or in each call from now on: as the revision wants.
  async #setLevel({ level }) {
    if (this.#client.getProtocolEra() === 'modern') this.#meta = { [LOG_LEVEL_META_KEY]: level }
    else await this.#client.setLoggingLevel(level, { timeout: TIMEOUT })
  }

  // Every tool that the SDK lets us see; that one cannot be called keeps none from being called.
  async #callListed({ arguments: args }) {
    const { tools } = await this.#client.listTools(undefined, { timeout: TIMEOUT })
    const steps = tools.map(({ name }) => ({ do: 'call_tool', name, arguments: args[name] ?? {}, may_fail: true }))
    await this.play(steps)
  }

  async #echoSchema({ of, with: echo }) {
    const { tools } = await this.#client.listTools(undefined, { timeout: TIMEOUT })
    const tool = tools.find(({ name }) => name === of)
    if (!tool) throw new Error(`the server lists no tool ${of}`)
    await this.#call({ name: echo, arguments: { schema: tool.inputSchema } })
  }

  async #listSkills() {
    this.#skills = (await new SkillsClient(this.#client).list({}, { timeout: TIMEOUT })).skills
  }

  // The SDK verifies each file that it reads; what fails keeps the next from being read.
  async #loadSkill({ uri }) {
    const skills = new SkillsClient(this.#client)
    const listed = this.#skills.find((skill) => skill.uri === uri)
    const skill = listed ?? (await skills.get(uri, { timeout: TIMEOUT })).skill
    const main = await skills.read(skill, undefined, { timeout: TIMEOUT })
    const files = Array.isArray(skill.resources) ? skill.resources : []
    for (const file of files) {
      if (file.uri !== main.uri) await skills.read(skill, file.uri, { timeout: TIMEOUT })
    }
  }

  #steps = {
    list_tools: () => this.#client.listTools(undefined, { timeout: TIMEOUT }),
    list_resources: () => this.#client.listResources(undefined, { timeout: TIMEOUT }),
    list_templates: () => this.#client.listResourceTemplates(undefined, { timeout: TIMEOUT }),
    list_prompts: () => this.#client.listPrompts(undefined, { timeout: TIMEOUT }),
    call_tool: (step) => this.#call(step),
    read_resource: ({ uri }) => this.#client.readResource({ uri }, { timeout: TIMEOUT }),
    get_prompt: ({ name, arguments: args }) =>
      this.#client.getPrompt({ name, arguments: args }, { timeout: TIMEOUT }),
    complete: ({ ref, argument }) => this.#client.complete({ ref, argument }, { timeout: TIMEOUT }),
    subscribe: ({ uri }) => this.#client.subscribeResource({ uri }, { timeout: TIMEOUT }),
    unsubscribe: ({ uri }) => this.#client.unsubscribeResource({ uri }, { timeout: TIMEOUT }),
    listen: async ({ notifications }) =>
      this.#subscriptions.push(await this.#client.listen(notifications, { timeout: TIMEOUT })),
    set_level: (step) => this.#setLevel(step),
    ping: () => this.#client.ping({ timeout: TIMEOUT }),
    change_roots: ({ roots }) => {
      this.#plan.answers.roots = roots
      return this.#client.sendRootsListChanged()
    },
    wait_for: ({ notification, seconds }) => this.#heard.next(notification, seconds),
    relist_on_change: async ({ seconds }) => {
      await this.#heard.next(LIST_CHANGED, seconds)
      await this.#steps.list_tools()
    },
    together: ({ steps }) => Promise.all(steps.map((step) => this.#try(step))),
    context_calls: async () => {
      for (const call of this.#plan.toolCalls ?? []) await this.#call(call)
    },
    call_listed: (step) => this.#callListed(step),
    echo_schema: (step) => this.#echoSchema(step),
    list_skills: () => this.#listSkills(),
    load_skill: (step) => this.#loadSkill(step),
  }
}
