import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ProtocolErrorCode } from '@modelcontextprotocol/client'
import { agentOverStdio, forEveryClient, startAgent, type Agent } from '../support/agent.ts'
import { applyEdits } from '../support/engine.ts'
import { writeLookupSheet } from '../support/lookup-files.ts'

async function read(agent: Agent, uri: string): Promise<{ text: string; mimeType: string | undefined }> {
  const { contents } = await agent.client.readResource({ uri })
  const [content, ...rest] = contents
  assert.ok(content !== undefined && 'text' in content && rest.length === 0)
  assert.equal(content.uri, uri)
  return { text: content.text, mimeType: content.mimeType }
}

forEveryClient(({ transport, era, name }) => {
  void test(`${name}: contract, status, derivation files and records can be read`, async (t) => {
    const { sheet } = await writeLookupSheet(t)
    const agent = await startAgent(t, sheet, { transport, era, flags: ['--read-only'] })
    const { resources } = await agent.client.listResources()
    assert.deepEqual(
      resources.map(({ uri }) => uri),
      [
        'colophon://contract',
        'colophon://contract.json',
        'colophon://status',
        'colophon://derivations/b.yaml',
      ],
    )
    assert.deepEqual(await read(agent, 'colophon://contract'), {
      text: await readFile(join(sheet, 'contract.yaml'), 'utf8'),
      mimeType: 'application/yaml',
    })
    const contract = JSON.parse((await read(agent, 'colophon://contract.json')).text) as { kind: string }
    assert.equal(contract.kind, 'DataContract')
    const status = JSON.parse((await read(agent, 'colophon://status')).text) as { b: { missing: number } }
    assert.equal(status.b.missing, 3)
    assert.deepEqual(await read(agent, 'colophon://derivations/b.yaml'), {
      text: await readFile(join(sheet, 'derivations', 'b.yaml'), 'utf8'),
      mimeType: 'application/yaml',
    })
    const { resourceTemplates } = await agent.client.listResourceTemplates()
    assert.deepEqual(
      resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      ['colophon://derivations/{file}', 'colophon://records/{id}'],
    )
    const record = await read(agent, 'colophon://records/r1')
    assert.deepEqual(JSON.parse(record.text), { id: 'r1', a: 'v1', b: null, secret_note: null })
    for (const [uri, message] of [
      ['colophon://records/nobody', /no record "nobody"/],
      ['colophon://derivations/..%2Fcontract.yaml', /known: b\.yaml/],
      ['colophon://derivations/%2Fetc%2Fpasswd', /known: b\.yaml/],
      ['colophon://elsewhere', /not found/i],
      ['file:///etc/passwd', /not found/i],
    ] as const) {
      await assert.rejects(agent.client.readResource({ uri }), {
        code: ProtocolErrorCode.InvalidParams,
        message,
      })
    }
  })

  void test(`${name}: a subscriber is notified of changes of its file and its record, and of no others`, async (t) => {
    const { sheet } = await writeLookupSheet(t)
    const agent = await startAgent(t, sheet, { transport, era })
    const { client } = agent
    const heard: string[] = []
    let wake = (): void => undefined
    const hear = (what: string) => (): void => {
      heard.push(what)
      wake()
    }
    client.setNotificationHandler('notifications/resources/list_changed', hear('list'))
    client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) => hear(uri)())
    const until = async (...wanted: string[]): Promise<void> => {
      while (!wanted.every((one) => heard.includes(one))) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        await promise
      }
    }
    const uris = ['colophon://contract', 'colophon://status', 'colophon://records/r1']
    if (era === '2025-11-25') {
      for (const uri of uris) await client.subscribeResource({ uri })
    } else {
      await client.listen({ resourcesListChanged: true, resourceSubscriptions: uris })
    }
    await agent.call('upsert_records', {
      records: [
        { id: 'r1', a: 'other' },
        { id: 'r2', a: 'too' },
      ],
    })
    await until('colophon://records/r1', 'colophon://status')
    assert.ok(!heard.includes('colophon://records/r2') && !heard.includes('list'))
    const file = join(sheet, 'contract.yaml')
    await writeFile(file, (await readFile(file, 'utf8')).replace('version: 1.0.0', 'version: 1.1.0'))
    await applyEdits(sheet)
    await until('list', 'colophon://contract')
    assert.ok(!heard.includes('colophon://contract.json'))
  })

  void test(`${name}: prompts cover common tasks, and complete their arguments`, async (t) => {
    const { sheet } = await writeLookupSheet(t)
    const agent = await startAgent(t, sheet, { transport, era, flags: ['--read-only'] })
    const { client } = agent
    const { prompts } = await client.listPrompts()
    assert.deepEqual(
      prompts.map((prompt) => [prompt.name, prompt.arguments?.map((one) => [one.name, one.required])]),
      [
        [
          'fill_missing_cells',
          [
            ['target', false],
            ['max_cost', false],
          ],
        ],
        ['find_odd_values', [['field', false]]],
        [
          'explain_cell',
          [
            ['record_id', true],
            ['field', true],
          ],
        ],
      ],
    )
    const { messages } = await client.getPrompt({
      name: 'explain_cell',
      arguments: { record_id: 'r1', field: 'b' },
    })
    assert.match(JSON.stringify(messages), /the field \\"b\\" in the record \\"r1\\"/)
    const fill = await client.getPrompt({
      name: 'fill_missing_cells',
      arguments: { target: 'b', max_cost: '2' },
    })
    assert.match(JSON.stringify(fill.messages), /This server only reads/)
    await client.getPrompt({ name: 'find_odd_values' })
    await assert.rejects(client.getPrompt({ name: 'explain_cell', arguments: { field: 'b' } }), {
      code: ProtocolErrorCode.InvalidParams,
      message: /"record_id" is required/,
    })

    const complete = async (
      ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string },
      argument: string,
      value: string,
    ): Promise<readonly string[]> =>
      (await client.complete({ ref, argument: { name: argument, value } })).completion.values
    const prompt = (of: string) => ({ type: 'ref/prompt', name: of }) as const
    assert.deepEqual(await complete(prompt('fill_missing_cells'), 'target', ''), ['b'])
    assert.deepEqual(await complete(prompt('find_odd_values'), 'field', 'SEC'), ['secret_note'])
    assert.deepEqual(await complete(prompt('explain_cell'), 'record_id', 'r'), ['r0', 'r1', 'r2'])
    assert.deepEqual(await complete(prompt('explain_cell'), 'record_id', 'R1'), ['r1'])
    assert.deepEqual(await complete(prompt('explain_cell'), 'toString', ''), [])
    const template = { type: 'ref/resource', uri: 'colophon://derivations/{file}' } as const
    assert.deepEqual(await complete(template, 'file', ''), ['b.yaml'])
    const record = { type: 'ref/resource', uri: 'colophon://records/{id}' } as const
    assert.deepEqual(await complete(record, 'id', "r1' OR '1"), [])
  })
})

test('an invalid file is reported, and the other resources are still listed', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  await writeFile(join(sheet, 'derivations', 'b.yaml'), 'kind: nonsense\n')
  const agent = await agentOverStdio(t, sheet, { flags: ['--log-level', 'silent'] })
  assert.equal((await agent.client.listResources()).resources.length, 3)
  await assert.rejects(agent.client.readResource({ uri: 'colophon://status' }), {
    message: /ContractError: .*b\.yaml/,
  })
  assert.match(await agent.fails('get_status'), /^ContractError: .*b\.yaml[^]*ask a person to fix it/)
})
