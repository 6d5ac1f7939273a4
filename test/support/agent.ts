import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type RequestOptions,
  type Tool,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Ajv, type ValidateFunction } from 'ajv'
import { Command } from 'commander'
import { addAgentActor, addAgentOptions, agentScope } from '../../src/cli/commands/serve/agent-options.ts'
import { createApp } from '../../src/http/app.ts'
import { McpEndpoint } from '../../src/mcp/mcp-endpoint.ts'
import { STRUCTURED_LIMIT } from '../../src/mcp/tools/call-tool.ts'
import type { AgentMode } from '../../src/mcp/tools/agent-scope.ts'
import { toolsOf } from '../../src/mcp/tools/tool-list.ts'
import { ColophonProcess } from './colophon-process.ts'
import { openOnEngine, perEngine, placeOnEngine } from './engine.ts'
import { listen } from './http-fixture.ts'
import { onEnd } from './on-end.ts'

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'colophon.js')

/** The protocol of a client: 2025 with sessions, 2026 without. */
export type Era = '2025-11-25' | '2026-07-28'
export const ERAS = ['2025-11-25', '2026-07-28'] as const satisfies readonly Era[]

/** Returns the mode of a server and whether it allows changes of the definition, by the tools that it lists. */
function scopeOf(tools: readonly Tool[]): { readonly mode: AgentMode; readonly allowDefinition: boolean } {
  const names = new Set(tools.map(({ name }) => name))
  const mode = names.has('revert_cell') ? 'write' : names.has('upsert_records') ? 'propose' : 'read-only'
  return { mode, allowDefinition: names.has('add_field') }
}

const RESULTS = new Ajv({ strict: true, allErrors: true })

/** The validators of results, by the schemas of the tools. */
const RESULT_CHECKS = new Map<Tool['outputSchema'] | object, ValidateFunction>()

/** Returns the validator of the results of a tool: a server does not list their schemas, which would be most of its list. */
function resultCheck(name: string, listed: readonly Tool[]): ValidateFunction {
  const tool = toolsOf(scopeOf(listed)).find((each) => each.name === name)
  assert.ok(tool !== undefined, name)
  const check = RESULT_CHECKS.get(tool.output) ?? RESULTS.compile({ ...tool.output } as object)
  RESULT_CHECKS.set(tool.output, check)
  return check
}

/** The result of a call, for a test. */
export interface Called {
  readonly structured: Readonly<Record<string, unknown>>
  /** The sentence before the data; for an error the whole text. */
  readonly text: string
}

/** A client of the SDK. Every response is validated against the schema of its tool's result. */
export class Agent {
  readonly client: Client
  readonly transport: StdioClientTransport | StreamableHTTPClientTransport
  #tools: readonly Tool[] = []

  constructor(client: Client, transport: StdioClientTransport | StreamableHTTPClientTransport) {
    this.client = client
    this.transport = transport
  }

  async tools(): Promise<readonly Tool[]> {
    if (this.#tools.length > 0) return this.#tools
    this.#tools = (await this.client.listTools()).tools
    return this.#tools
  }

  /** Calls a tool that must succeed. */
  async call(
    name: string,
    args: Record<string, unknown> = {},
    options: RequestOptions = {},
  ): Promise<Called> {
    const result = await this.raw(name, args, options)
    assert.equal(result.isError ?? false, false, `${name}: ${JSON.stringify(result.content)}`)
    const [sentence, data] = result.content
    assert.ok(sentence?.type === 'text' && data?.type === 'text')
    const structured = JSON.parse(data.text) as Called['structured']
    const expected = data.text.length <= STRUCTURED_LIMIT ? structured : undefined
    assert.deepEqual(
      result.structuredContent,
      expected,
      'a result that is not large has its data structured, too',
    )
    const validate = resultCheck(name, this.#tools)
    assert.ok(validate(structured), `${name}: ${JSON.stringify(validate.errors)}`)
    return { structured, text: sentence.text }
  }

  /** Calls a tool that must fail; returns the error's text. */
  async fails(
    name: string,
    args: Record<string, unknown> = {},
    options: RequestOptions = {},
  ): Promise<string> {
    const { isError, content, structuredContent } = await this.raw(name, args, options)
    assert.equal(isError, true, `${name}: ${JSON.stringify(content)}`)
    assert.equal(structuredContent, undefined)
    const [told, ...rest] = content
    assert.ok(told?.type === 'text' && rest.length === 0)
    return told.text
  }

  async raw(
    name: string,
    args: Record<string, unknown>,
    options: RequestOptions = {},
  ): Promise<CallToolResult> {
    await this.tools()
    return this.client.callTool({ name, arguments: args }, options)
  }
}

function clientOf(era: Era): Client {
  const mode = era === '2025-11-25' ? 'legacy' : 'auto'
  return new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
}

/** Starts `colophon mcp` with the sheet of a directory on this engine, for its own client. */
export async function agentOverStdio(
  t: TestContext,
  sheet: string,
  {
    flags = [],
    era = '2025-11-25',
    env = {},
  }: { flags?: readonly string[]; era?: Era; env?: Record<string, string> } = {},
): Promise<Agent> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp', await placeOnEngine(sheet), ...flags],
    stderr: 'inherit',
    env: { ...(process.env as Record<string, string>), ...env },
  })
  return connect(t, new Agent(clientOf(era), transport), era)
}

/** Connects to the `/mcp` of a server. */
export async function agentOverHttp(
  t: TestContext,
  port: number,
  { era = '2025-11-25', headers = {} }: { era?: Era; headers?: Record<string, string> } = {},
): Promise<Agent> {
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } })
  return connect(t, new Agent(clientOf(era), transport), era)
}

async function connect(t: TestContext, agent: Agent, era: Era): Promise<Agent> {
  onEnd(t, () => agent.client.close())
  await agent.client.connect(agent.transport)
  assert.equal(agent.client.getNegotiatedProtocolVersion(), era)
  return agent
}

/** Starts `colophon serve --mcp` with the sheet of a directory on this engine; permissions are given as for `colophon mcp`. */
export async function serveAgents(
  t: TestContext,
  sheet: string,
  { flags = [], env = {} }: { flags?: readonly string[]; env?: NodeJS.ProcessEnv } = {},
): Promise<ColophonProcess> {
  const prefixed = flags.map((flag) =>
    flag.replace(/^--(actor|read-only|propose|allow-definition|max-calls|max-cost)\b/, '--mcp-$1'),
  )
  const place = await placeOnEngine(sheet)
  return new ColophonProcess(t, ['serve', place, '--port', '0', '--mcp', ...prefixed], { env })
}

/** Starts an agent and its server: over stdio a process; over HTTP, the default, in this process, which is faster. */
export async function startAgent(
  t: TestContext,
  sheet: string,
  {
    transport = 'http',
    era = '2026-07-28',
    flags = [],
  }: Partial<HowConnected> & { readonly flags?: readonly string[] } = {},
): Promise<Agent> {
  if (transport === 'stdio') return agentOverStdio(t, sheet, { flags, era })
  return agentOverHttp(t, await serveInProcess(t, sheet, flags), { era })
}

/** Serves the sheet of a directory to agents with the flags of `colophon mcp`; returns the port. */
async function serveInProcess(t: TestContext, directory: string, flags: readonly string[]): Promise<number> {
  const sheet = await openOnEngine(directory)
  onEnd(t, () => sheet.close())
  const given = addAgentActor(addAgentOptions(new Command(), ''), '').parse(flags, { from: 'user' })
  const log = (error: unknown): void => assert.fail(error as Error)
  const agents = new McpEndpoint(sheet, { scope: agentScope(given.opts()), version: '0', log })
  const app = createApp(sheet, { agents })
  onEnd(t, () => app.close())
  return listen(app)
}

/** The transport and the protocol of a client. */
interface HowConnected {
  readonly transport: 'stdio' | 'http'
  readonly era: Era
}

/**
 * Runs a test for each transport and each protocol: on SQLite over stdio with the older protocol and over HTTP with the newer, on
 * PostgreSQL over HTTP with the older.
 */
export function forEveryClient(run: (how: HowConnected & { readonly name: string }) => void): void {
  const [older, newer] = ERAS
  const clients = perEngine<readonly HowConnected[]>({
    sqlite: [
      { transport: 'stdio', era: older },
      { transport: 'http', era: newer },
    ],
    postgres: [{ transport: 'http', era: older }],
  })
  for (const { transport, era } of clients) run({ transport, era, name: `${transport}, ${era}` })
}
