import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '@modelcontextprotocol/client'
import { mcpCommand } from '../../src/cli/commands/serve/mcp-command.ts'
import { serveCommand } from '../../src/cli/commands/serve/serve-command.ts'
import { MCP_BODY_LIMIT } from '../../src/http/routes/mcp.ts'
import type { AgentMode } from '../../src/mcp/tools/agent-scope.ts'
import { RESULT_LIMIT } from '../../src/mcp/tools/call-tool.ts'
import { LISTENERS } from '../../src/mcp/mcp-endpoint.ts'
import { SUBSCRIPTIONS } from '../../src/mcp/mcp-server.ts'
import { SESSION_LIMITS } from '../../src/mcp/mcp-sessions.ts'
import { PROMPTS } from '../../src/mcp/prompts.ts'
import { TRACKED_RECORDS } from '../../src/mcp/resource-watch.ts'
import { MESSAGE_LIMIT } from '../../src/mcp/serve-stdio.ts'
import { toolsOf } from '../../src/mcp/tools/tool-list.ts'
import { BudgetAnswer } from '../../src/wire/tool-answers.ts'
import { TOOL_LIMIT, TOOL_LIMIT_MAX } from '../../src/wire/tool-inputs.ts'
import { agentOverStdio } from '../support/agent.ts'
import { code, codeBlocks, codes, readPage, section, tableOf } from '../support/markdown.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const page = readPage('docs/reference/mcp.md')
const guide = readPage('docs/guides/agents.md')

function members(schema: object): string[] {
  return Object.keys((schema as { properties: object }).properties)
}

test('the MCP reference lists exactly the tools, with their modes and arguments', () => {
  const reading = new Set(toolsOf({ mode: 'read-only', allowDefinition: false }).map(({ name }) => name))
  const real = toolsOf({ mode: 'read-only', allowDefinition: false }).map(({ name, input }) => [
    name,
    'all',
    members(input),
  ])
  for (const mode of ['write', 'propose'] satisfies AgentMode[]) {
    for (const { name, input } of toolsOf({ mode, allowDefinition: false }))
      if (!reading.has(name)) real.push([name, mode, members(input)])
  }
  const writing = new Set(toolsOf({ mode: 'write', allowDefinition: false }).map(({ name }) => name))
  for (const { name, input } of toolsOf({ mode: 'write', allowDefinition: true })) {
    if (!writing.has(name)) real.push([name, 'definition', members(input)])
  }
  const { rows } = tableOf(section(page, 'Tools'), 'Tool')
  assert.deepEqual(
    rows.map(([tool, mode, args = '']) => [code(tool), mode, codes(args)]),
    real,
  )
})

test('the tools with a budget, and its members, are those of the MCP reference', () => {
  const [before = '', after = ''] = section(page, 'Results').split(' have a `budget`: ')
  const tools = before.split('\n\n').at(-1) ?? ''
  const real = toolsOf({ mode: 'write', allowDefinition: true }).filter(
    ({ output }) => 'budget' in output.properties,
  )
  assert.deepEqual(codes(tools).toSorted(), real.map(({ name }) => name).toSorted())
  assert.deepEqual(codes(after.split('\n\n')[0] ?? ''), Object.keys(BudgetAnswer.properties))
})

test('the options of the MCP reference are those of both commands', () => {
  const { rows } = tableOf(section(page, 'Permissions'), '`colophon mcp`')
  const flags = (command: ReturnType<typeof mcpCommand>): Set<string> =>
    new Set(command.options.map((option) => option.flags))
  const [own, ofServe] = [flags(mcpCommand()), flags(serveCommand())]
  for (const [alone, served] of rows) {
    assert.ok(own.has(code(alone)), alone)
    assert.ok(ofServe.has(code(served)), served)
    assert.equal(code(served), code(alone).replace('--', '--mcp-'))
  }
  const prefixed = [...ofServe].filter((flag) => flag.startsWith('--mcp-'))
  assert.equal(rows.length, prefixed.length)
})

test('resources and prompts are those of the MCP reference', async (t) => {
  const { client }: { client: Client } = await agentOverStdio(t, await writeSheet(t))
  const { resources } = await client.listResources()
  const { resourceTemplates } = await client.listResourceTemplates()
  const listed = [
    ...resources
      .filter(({ uri }) => !uri.includes('/derivations/'))
      .map(({ uri, mimeType }) => [uri, mimeType]),
    ...resourceTemplates.map(({ uriTemplate, mimeType }) => [uriTemplate, mimeType]),
  ]
  const { rows } = tableOf(section(page, 'Resources'), 'URI')
  assert.deepEqual(
    rows.map(([uri, type]) => [code(uri), code(type)]),
    listed,
  )
  const prompts = tableOf(section(page, 'Prompts'), 'Prompt').rows
  assert.deepEqual(
    prompts.map(([name, args = '']) => [code(name), codes(args)]),
    PROMPTS.map(({ name, args }) => [name, members(args)]),
  )
})

test('limits are those of the MCP reference', () => {
  const limits = new Map(tableOf(section(page, 'Limits'), 'What').rows.map(([what, limit]) => [what, limit]))
  const said = (number: number): string => number.toLocaleString('en')
  assert.equal(limits.get('a message of a client'), `${said(MCP_BODY_LIMIT)} bytes`)
  assert.equal(MESSAGE_LIMIT, MCP_BODY_LIMIT)
  assert.equal(limits.get('characters of a result'), said(RESULT_LIMIT))
  assert.equal(limits.get('sessions at a time'), said(SESSION_LIMITS.sessions))
  assert.equal(
    limits.get('a session without an open connection'),
    `${SESSION_LIMITS.idleMs / 60_000} minutes`,
  )
  assert.equal(limits.get('streams of changes (`2026-07-28`, HTTP)'), said(LISTENERS))
  assert.equal(limits.get('subscriptions of a client, and records among all'), said(SUBSCRIPTIONS))
  assert.equal(TRACKED_RECORDS, SUBSCRIPTIONS)
  const answers = section(page, 'Results')
  assert.match(answers, new RegExp(`Lists have ${TOOL_LIMIT} items [^]* at most ${TOOL_LIMIT_MAX};`))
  assert.match(answers, new RegExp(`more than ${said(RESULT_LIMIT)} characters`))
})

test('the settings of the guide start a working agent server', async (t) => {
  const [settings] = codeBlocks(guide).filter(({ lang }) => lang === 'json')
  const { mcpServers } = JSON.parse(settings?.text ?? '') as {
    mcpServers: { countries: { command: string; args: string[] } }
  }
  const { command, args } = mcpServers.countries
  assert.equal(command, 'colophon')
  const [mcp, , ...flags] = args
  assert.equal(mcp, 'mcp')
  const agent = await agentOverStdio(t, await writeSheet(t), { flags })
  const { structured } = await agent.call('get_permissions')
  assert.deepEqual([structured['actor'], structured['mode']], ['agent:claude', 'propose'])
  assert.equal((structured['budget'] as { max_cost: number }).max_cost, 2)
})

test('the options in the guide are options', () => {
  const known = new Set([...mcpCommand().options, ...serveCommand().options].map(({ long }) => long))
  const { rows } = tableOf(guide, 'To allow')
  for (const [, options = ''] of rows) {
    for (const option of options.match(/--[a-z-]+/g) ?? []) assert.ok(known.has(option), option)
  }
  const lines = codeBlocks(guide).flatMap(({ lang, text }) => (lang === 'sh' ? text.split('\n') : []))
  for (const line of lines.filter((one) => one.startsWith('colophon'))) {
    for (const option of line.match(/--[a-z-]+/g) ?? []) assert.ok(known.has(option), option)
  }
})
