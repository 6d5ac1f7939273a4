import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChangeAnswer } from '../../src/wire/definition/change.ts'
import type { ContractChangeAnswer } from '../../src/wire/definition/contract-changes.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import {
  assertEnvelope as assertBody,
  CSRF,
  startApp,
  startAppOver,
  type TestApp,
} from '../support/http-fixture.ts'
import { contractText } from '../support/contract-with.ts'
import { editSheet, OFFERS, openTestSheetIn, writeSheet } from '../support/sheet-fixture.ts'

const ACTOR = 'human:ann'
const WHOLE = { targets: null, recordIds: null, force: false, actor: ACTOR }
const PROPERTIES = '/api/contract/properties'

type Answer = Awaited<ReturnType<TestApp['app']['inject']>>
type Method = 'POST' | 'PATCH' | 'PUT' | 'DELETE'

async function send(
  { app }: TestApp,
  [method, url]: readonly [Method, string],
  payload: object = {},
  ifMatch?: string,
): Promise<Answer> {
  const headers = { ...CSRF, ...(ifMatch !== undefined && { 'if-match': ifMatch }) }
  if (method === 'DELETE') return app.inject({ method, url, headers: { ...headers, 'x-svc-actor': ACTOR } })
  return app.inject({ method, url, headers, payload: { actor: ACTOR, ...payload } })
}

function assertEnvelope(answer: Answer, status: number, type: string, message: RegExp): void {
  assert.equal(answer.statusCode, status, answer.body)
  assertBody(answer, type, message)
}

interface Page {
  readonly records: readonly object[]
}

interface Document {
  readonly schema: readonly [{ readonly properties: readonly Record<string, unknown>[] }]
}

async function contract({ app }: TestApp): Promise<Document> {
  return (await app.inject('/api/contract')).json<Document>()
}

async function names(running: TestApp): Promise<readonly unknown[]> {
  return (await contract(running)).schema[0].properties.map(({ name }) => name)
}

async function text({ sheet }: TestApp, path = 'contract.yaml'): Promise<string> {
  const { files } = await sheet.definition()
  return Buffer.from(files.texts().get(path) ?? []).toString()
}

function assertOk(answer: Answer): Answer {
  assert.equal(answer.statusCode, 200, answer.body)
  return answer
}

/** A field that `x-inputs` of another name. */
const WITH_INPUTS = {
  ...OFFERS,
  contract: OFFERS.contract.replace(
    '{name: rate, logicalType: number}',
    '{name: rate, logicalType: number, x-inputs: [currency]}',
  ),
}

test('a field is added: the contract is answered, and records have it', async (t) => {
  const running = await startApp(t)
  const before = await text(running)
  const body = { name: 'size', logicalType: 'integer', description: 'In cm', editable_by: ['human:*'] }
  const answer = assertOk(await send(running, ['POST', PROPERTIES], body))
  const property = answer.json<Document>().schema[0].properties.at(-1)
  assert.equal(property?.['name'], 'size')
  assert.equal(property?.['description'], 'In cm')
  assert.ok((await text(running)).startsWith(before), 'the file keeps its lines')
  assert.equal((await running.app.inject('/api/records/a')).json<{ size: unknown }>().size, null)
})

test('a duplicate name, the primary-key and a derived field are refused', async (t) => {
  const running = await startApp(t)
  const refused = async (route: readonly [Method, string], body: object, message: RegExp): Promise<void> =>
    assertEnvelope(await send(running, route, body), 400, 'OperationError', message)
  await refused(['POST', PROPERTIES], { name: 'price', logicalType: 'string' }, /has a field "price" already/)
  await refused(['POST', PROPERTIES], { name: 'Price', logicalType: 'string' }, /differs in case only/)
  await refused(['PATCH', `${PROPERTIES}/id`], { new_name: 'key' }, /primary-key/)
  await refused(['PATCH', `${PROPERTIES}/id`], { description: 'Key' }, /primary-key/)
  await refused(['DELETE', `${PROPERTIES}/id`], {}, /primary-key/)
  await refused(['DELETE', `${PROPERTIES}/rate`], {}, /derived.*; PUT \/api\/contract with derivations/)
  await refused(
    ['POST', PROPERTIES],
    { name: 'a b', logicalType: 'string' },
    /^contract\.yaml:\d+: .*letters, digits/,
  )
  await refused(
    ['DELETE', `${PROPERTIES}/currency?confirm=3`],
    {},
    /^derivations\/rate\.yaml:2: .*"currency".* \(the change leaves this file as it is; edit or remove it too, or before\)$/,
  )
  assertEnvelope(
    await send(running, ['DELETE', `${PROPERTIES}/prise`]),
    404,
    'SheetError',
    /was price meant\?/,
  )
  assertEnvelope(
    await send(running, ['PATCH', `${PROPERTIES}/prise`], {}),
    404,
    'SheetError',
    /no field "prise"/,
  )
})

test('a renamed field keeps its values, and derivations that name it are edited', async (t) => {
  const running = await startApp(t)
  const url = `${PROPERTIES}/currency`
  const planned = assertOk(await send(running, ['PATCH', `${url}?dry_run=true`], { new_name: 'money' }))
  const plan = planned.json<ContractChangeAnswer>()
  assert.deepEqual(plan.changes, [{ change: 'rename', field: 'money', from: 'currency' }])
  assert.deepEqual(
    plan.edits.map(({ file, line, after }) => [file, line, after?.trim()]),
    [
      ['contract.yaml', 11, '- {name: money, logicalType: string}'],
      ['derivations/rate.yaml', 2, 'inputs: [money]'],
      ['derivations/rate.yaml', 4, 'url: https://rates.example/{{ money }}'],
    ],
  )
  assert.deepEqual(await names(running), ['id', 'title', 'price', 'currency', 'owner_note', 'rate'])

  assertOk(await send(running, ['PATCH', url], { new_name: 'money' }))
  assert.deepEqual(await names(running), ['id', 'title', 'price', 'money', 'owner_note', 'rate'])
  assert.equal((await running.app.inject('/api/records/a')).json<{ money: string }>().money, 'EUR')
  const history = (await running.app.inject('/api/definition/history/1')).json<{ effect: unknown }>()
  const { records, fields, targets } = plan
  assert.deepEqual(history.effect, { records, fields, targets }, 'the plan is the effect')

  const back = await send(running, ['POST', '/api/definition/revert'], { change: '1' })
  assertOk(back)
  assert.equal(await text(running), OFFERS.contract)
  assert.equal(await text(running, 'derivations/rate.yaml'), OFFERS.derivations['rate.yaml'])
})

test('fields that swap names, or take the name of the next, are renamed in derivations together', async (t) => {
  const cases = [
    { renamed: { title: 'currency', currency: 'title' }, input: 'title', apple: 'currency' },
    { renamed: { currency: 'title', title: 'label' }, input: 'title', apple: 'label' },
  ] as const
  for (const { renamed, input, apple } of cases) {
    const running = await startApp(t)
    await materialize(running.sheet, WHOLE)
    const newNames = new Map(Object.entries(renamed))
    const edited = OFFERS.contract.replace(
      /name: (title|currency),/g,
      (_, name: string) => `name: ${newNames.get(name)},`,
    )
    assertOk(await send(running, ['PUT', '/api/contract'], { text: edited, renamed }))
    assert.equal(
      await text(running, 'derivations/rate.yaml'),
      OFFERS.derivations['rate.yaml']?.replaceAll('currency', input),
    )
    const record = (await running.app.inject('/api/records/a')).json<Record<string, unknown>>()
    assert.deepEqual([record[input], record[apple]], ['EUR', 'Apple'])
    // What the derivation reads is the same: no other URL is called.
    const run = await materialize(running.sheet, WHOLE)
    assert.deepEqual([run.materialized, run.failures.length], [2, 1])
    assert.match(run.failures[0]?.error ?? '', /^GET https:\/\/rates\.example\/XXX /)
    assertOk(await send(running, ['POST', '/api/definition/revert'], { change: '1' }))
    assert.equal(await text(running, 'derivations/rate.yaml'), OFFERS.derivations['rate.yaml'])
  }
})

test('formulas follow fields that swap names', async (t) => {
  const before = contractText([
    '{name: a, logicalType: number}',
    '{name: b, logicalType: number}',
    '{name: c, logicalType: number}',
  ])
  const formula = (left: string, right: string): string =>
    `targets: [c]\nkind: sql\nexpression: ${left} - ${right} # less\n`
  const records = [{ id: 'a', a: 5, b: 3 }]
  const running = await startApp(t, {
    files: { contract: before, records, derivations: { 'c.yaml': formula('a', 'b') } },
  })
  const put = ['PUT', '/api/contract'] as const
  const swapped = before
    .replace('name: a', 'name: z')
    .replace('name: b', 'name: a')
    .replace('name: z', 'name: b')
  assertOk(await send(running, put, { text: swapped, renamed: { a: 'b', b: 'a' } }))
  assert.equal(await text(running, 'derivations/c.yaml'), formula('b', 'a'))
  await materialize(running.sheet, WHOLE)
  const record = assertOk(await running.app.inject('/api/records/a')).json<object>()
  assert.deepEqual(record, { id: 'a', b: 5, a: 3, c: 2 })
  const unknown = await send(running, put, { text: `${swapped}# More\n`, renamed: { b: 'd' } })
  const none = /^contract\.yaml cannot be changed like this: property "d" cannot be renamed: /
  assertEnvelope(unknown, 400, 'OperationError', none)
  const misspelt = await send(running, put, { text: swapped, renamed: { cc: 'd' } })
  const meant = /^renamed names "cc", which is no field of the contract; did you mean "c"\?$/
  assertEnvelope(misspelt, 400, 'OperationError', meant)
})

test('a derivation that changes together with a new name can have the names of before', async (t) => {
  const running = await startApp(t)
  const rate = `${OFFERS.derivations['rate.yaml']}headers: {x-unit: '{{ currency }}'}\n`
  const body = {
    text: OFFERS.contract.replace('name: currency', 'name: title').replace('name: title', 'name: currency'),
    renamed: { currency: 'title', title: 'currency' },
    derivations: { 'rate.yaml': rate },
  }
  const put = ['PUT', '/api/contract'] as const
  const plan = assertOk(
    await send(running, ['PUT', '/api/contract?dry_run=true'], { ...body, rename_in_derivations: true }),
  ).json<ContractChangeAnswer>()
  assert.deepEqual(plan.breaks.toSorted(), ['currency', 'title'])
  assertOk(await send(running, put, { ...body, rename_in_derivations: true }))
  const renamed = rate.replaceAll('currency', 'title')
  assert.equal(await text(running, 'derivations/rate.yaml'), renamed)
  // By default the text is taken as it is.
  assertOk(await send(running, ['POST', '/api/definition/revert'], { change: '1' }))
  assertOk(await send(running, put, body))
  assert.equal(await text(running, 'derivations/rate.yaml'), rate)
})

test('a field that derivations read is not removed while another takes its name', async (t) => {
  const running = await startApp(t)
  const lines = OFFERS.contract.replace(/.*name: currency.*\n/, '').replace('name: title', 'name: currency')
  const body = { text: lines, renamed: { title: 'currency' }, confirm: { currency: 3 } }
  const refused = await send(running, ['PUT', '/api/contract'], body)
  assertEnvelope(refused, 400, 'OperationError', /^derivations\/rate\.yaml:2: .*removes the field "currency"/)
  assert.equal(await text(running), OFFERS.contract)
  // No derivation names the price.
  const unread = OFFERS.contract.replace(/.*name: price.*\n/, '').replace('name: title', 'name: price')
  assertOk(
    await send(running, ['PUT', '/api/contract'], {
      text: unread,
      renamed: { title: 'price' },
      confirm: { price: 3 },
    }),
  )
  assert.equal((await running.app.inject('/api/records/a')).json<{ price: string }>().price, 'Apple')
})

test('a derivation that changes with the contract must have the version that the request names', async (t) => {
  const running = await startApp(t)
  const put = ['PUT', '/api/contract'] as const
  const rate = async (): Promise<{ text: string; version: string }> =>
    assertOk(await running.app.inject('/api/derivations/rate.yaml')).json()
  const document = await contract(running)
  const { text: before, version } = await rate()
  const mine = (note: string, named: string): object => ({
    document,
    derivations: { 'rate.yaml': `${before}# ${note}\n` },
    versions: { 'rate.yaml': named },
  })
  assertOk(await send(running, put, mine('first', version)))
  const refused = await send(running, put, mine('second', version))
  assertEnvelope(refused, 412, 'OperationError', /^derivations\/rate\.yaml /)
  assert.equal((await rate()).text, `${before}# first\n`)
  const unnamed = await send(running, put, { document, versions: { 'rate.yaml': version } })
  assertEnvelope(unnamed, 400, 'ValidationError', /^versions names "rate\.yaml", which is not in derivations/)
})

test('a text repairs a contract that was broken by hand, and the history has both', async (t) => {
  const directory = await writeSheet(t, OFFERS)
  const running = await startAppOver(t, await openTestSheetIn(t, directory))
  await running.sheet.defined()
  const put = ['PUT', '/api/contract'] as const
  for (const [index, broken] of ['schema: [', ''].entries()) {
    await editSheet(directory, 'contract.yaml', broken)
    assert.equal((await running.app.inject('/api/records')).statusCode, 500)
    const byDocument = await send(running, put, { document: {} })
    assert.equal(byDocument.statusCode, 400, byDocument.body)
    const read = assertOk(await running.app.inject('/api/contract/text'))
    const { text: present, version } = read.json<{ text: string; version: string }>()
    assert.deepEqual([present, read.headers.etag], [broken, `"${version}"`])
    const repaired = `# Repair ${index}\n${OFFERS.contract}`
    assertOk(await send(running, ['PUT', '/api/contract?dry_run=true'], { text: repaired }))
    const answer = assertOk(await send(running, put, { text: repaired })).json<ContractChangeAnswer>()
    assert.equal(answer.change, `${2 * index + 2}`)
    assert.deepEqual(answer.changes, [])
    assert.equal(await text(running), repaired)
    assert.equal((await running.app.inject('/api/records')).statusCode, 200)
    const byHand = (await running.app.inject(`/api/definition/history/${2 * index + 1}`)).json<ChangeAnswer>()
    assert.deepEqual([byHand.actor, byHand.files[0]?.text_after], [null, broken])
  }
})

test('the contract is read without derivations while a derivation file is broken', async (t) => {
  const directory = await writeSheet(t, OFFERS)
  const running = await startAppOver(t, await openTestSheetIn(t, directory))
  const withDerived = await names(running)
  await editSheet(directory, 'derivations/rate.yaml', 'targets: [')
  assertEnvelope(
    await running.app.inject('/api/contract'),
    500,
    'ContractError',
    /^derivations\/rate\.yaml:1: /,
  )
  const answer = assertOk(await running.app.inject('/api/contract?derived=false'))
  const [{ properties }] = answer.json<Document>().schema
  assert.deepEqual(
    properties.map(({ name }) => name),
    withDerived,
  )
  assert.ok(properties.every((property) => !('derived' in property)))
})

test('a definition that was broken while no service ran is repaired over HTTP', async (t) => {
  const directory = await writeSheet(t, OFFERS)
  const put = ['PUT', '/api/contract'] as const
  const gone = OFFERS.contract.replace(/\n.*owner_note.*/, '').replace(/\n.*price.*/, '')
  for (const [broken, why] of [
    ['schema: [', /^contract\.yaml:1: /],
    [gone, /property "price" is gone/],
  ] as const) {
    await (await openTestSheetIn(t, directory)).close()
    await editSheet(directory, 'contract.yaml', broken)
    const running = await startAppOver(t, await openTestSheetIn(t, directory))
    assertEnvelope(await running.app.inject('/api/records'), 500, 'ContractError', why)
    assertOk(await running.app.inject('/api/definition/history'))
    assertEnvelope(await send(running, put, { text: 'schema: 1' }), 400, 'OperationError', /^contract\.yaml/)
    assertOk(await send(running, put, { text: OFFERS.contract }))
    const records = assertOk(await running.app.inject('/api/records?fields=id,price')).json<Page>()
    assert.deepEqual(records.records[0], { id: 'a', price: 1.5 })
    await running.app.close()
    await running.sheet.close()
    await editSheet(directory, 'contract.yaml', OFFERS.contract)
  }
})

test('a field that x-inputs of another name is renamed only with them', async (t) => {
  const running = await startApp(t, { files: WITH_INPUTS })
  const url = `${PROPERTIES}/currency`
  const refused = await send(running, ['PATCH', url], { new_name: 'money' })
  assertEnvelope(refused, 400, 'OperationError', /^contract\.yaml:13: x-inputs of "rate" names "currency"/)
  assertOk(await send(running, ['PATCH', url], { new_name: 'money', edit_inputs: true }))
  assert.match(await text(running), /x-inputs: \[money\]/)
  assertEnvelope(await send(running, ['DELETE', `${PROPERTIES}/money`]), 400, 'OperationError', /x-inputs/)
})

test('a field is removed with the number of its values, and comes back', async (t) => {
  const running = await startApp(t)
  const url = `${PROPERTIES}/price`
  const plan = assertOk(await send(running, ['DELETE', `${url}?dry_run=true`])).json<ContractChangeAnswer>()
  assert.deepEqual(plan.changes, [{ change: 'remove', field: 'price' }])
  assert.equal(plan.fields[0]?.lost, 3)
  assertEnvelope(
    await send(running, ['DELETE', url]),
    400,
    'OperationError',
    /3 records: confirm that number/,
  )
  assertEnvelope(await send(running, ['DELETE', `${url}?confirm=2`]), 400, 'OperationError', /3/)
  assertOk(await send(running, ['DELETE', `${url}?confirm=3`]))
  assert.deepEqual(await names(running), ['id', 'title', 'currency', 'owner_note', 'rate'])
  assertOk(await send(running, ['POST', '/api/definition/revert'], { change: '1' }))
  assert.equal((await running.app.inject('/api/records/a')).json<{ price: number }>().price, 1.5)
  // A field without values needs no number.
  assertOk(await send(running, ['DELETE', `${PROPERTIES}/owner_note`]))
})

test('values of another type are converted, or refuse the change', async (t) => {
  const running = await startApp(t)
  const url = `${PROPERTIES}/price`
  assertOk(await send(running, ['PATCH', url], { logicalType: 'string' }))
  assert.equal((await running.app.inject('/api/records/a')).json<{ price: unknown }>().price, '1.5')
  const title = `${PROPERTIES}/title`
  const retype = { logicalType: 'number', required: false }
  const plan = assertOk(
    await send(running, ['PATCH', `${title}?dry_run=true`], retype),
  ).json<ContractChangeAnswer>()
  assert.equal(plan.conflicts.length, 1)
  assert.deepEqual(
    plan.fields[0]?.misfits.map(({ record_id: id }) => id),
    ['a', 'b', 'c'],
  )
  assertEnvelope(await send(running, ['PATCH', title], retype), 400, 'OperationError', /title/)
  assertOk(await send(running, ['PATCH', title], { ...retype, on_invalid: 'null' }))
  assert.equal((await running.app.inject('/api/records/a')).json<{ title: unknown }>().title, null)
})

test('a change is made only to the version that the request names', async (t) => {
  const running = await startApp(t)
  const tag = String((await running.app.inject('/api/contract')).headers['etag'])
  const added = assertOk(
    await send(running, ['POST', PROPERTIES], { name: 'a1', logicalType: 'string' }, tag),
  )
  const stale = await send(running, ['POST', PROPERTIES], { name: 'a2', logicalType: 'string' }, tag)
  assert.equal(stale.statusCode, 412, stale.body)
  const version = String(added.headers['etag'])
  assertOk(await send(running, ['DELETE', `${PROPERTIES}/a1`], {}, version))
  assert.equal(await text(running), OFFERS.contract, 'added and removed without a trace')
})

test('changes at the same time are all made', async (t) => {
  const running = await startApp(t)
  const wanted = Array.from({ length: 14 }, (_, index) => `a${index}`)
  const added = await Promise.all(
    wanted.map((name) => send(running, ['POST', PROPERTIES], { name, logicalType: 'string' })),
  )
  added.forEach(assertOk)
  assert.deepEqual(new Set((await names(running)).slice(6)), new Set(wanted))
})

test('the contract is replaced by a document, whose file keeps what did not change', async (t) => {
  const commented = OFFERS.contract.replace('- {name: price', '# In euros\n      - {name: price')
  const running = await startApp(t, { files: { ...OFFERS, contract: commented } })
  const document = await contract(running)
  const same = assertOk(
    await send(running, ['PUT', '/api/contract'], { document }),
  ).json<ContractChangeAnswer>()
  assert.deepEqual([same.change, same.files, same.edits], [null, [], []])

  const [entry] = document.schema
  const properties = entry.properties
    .filter(({ name }) => name !== 'owner_note')
    .map((property) => (property['name'] === 'currency' ? { ...property, name: 'money' } : property))
  const changed = { ...document, schema: [{ ...entry, properties }] }
  const renamed = { currency: 'money' }
  const put = ['PUT', '/api/contract'] as const
  const answer = assertOk(
    await send(running, put, { document: changed, renamed }),
  ).json<ContractChangeAnswer>()
  assert.deepEqual(answer.changes, [
    { change: 'rename', field: 'money', from: 'currency' },
    { change: 'remove', field: 'owner_note' },
  ])
  assert.equal(
    await text(running),
    commented.replace('name: currency', 'name: money').replace(/.*owner_note.*\n/, ''),
  )
  assert.match(await text(running, 'derivations/rate.yaml'), /\{\{ money \}\}/)
})

test('the contract is replaced by a text as it is, if it is valid', async (t) => {
  const running = await startApp(t)
  const put = ['PUT', '/api/contract'] as const
  const edited = `# Offers of the week\n${OFFERS.contract}`
  assertOk(await send(running, put, { text: edited }))
  assert.equal(await text(running), edited)
  const broken = await send(running, put, {
    text: edited.replace('logicalType: number', 'logicalType: nummer'),
  })
  assertEnvelope(broken, 400, 'OperationError', /^contract\.yaml:11: .*did you mean "number"/)
  const without = await send(running, put, { text: OFFERS.contract.replace(/.*name: price.*\n/, '') })
  assertEnvelope(without, 400, 'OperationError', /price.*3|3.*price/)
  assertEnvelope(await send(running, put, {}), 400, 'ValidationError', /either text/)
  const money = { name: 'money', logicalType: 'money' }
  const types = /^"logicalType" is "money"; expected "string" or "integer" or .* or "object"$/
  assertEnvelope(await send(running, ['POST', PROPERTIES], money), 400, 'ValidationError', types)
  assertEnvelope(
    await send(running, put, { text: edited, document: {} }),
    400,
    'ValidationError',
    /either text/,
  )
  assertEnvelope(await send(running, put, { document: { schema: [] } }), 400, 'OperationError', /apiVersion/)
})

test('nothing is changed where the definition is read-only', async (t) => {
  const running = await startApp(t, { sheet: { fixedDefinition: true } })
  const body = { name: 'size', logicalType: 'integer' }
  assertEnvelope(await send(running, ['POST', PROPERTIES], body), 403, 'PermissionDeniedError', /read-only/)
  assertEnvelope(
    await send(running, ['POST', `${PROPERTIES}?dry_run=true`], body),
    403,
    'PermissionDeniedError',
    /read-only/,
  )
})

test('a new name that a derivation cannot be edited for is refused with its line', async (t) => {
  const query =
    'targets: [rate]\nkind: sql\nexpression: SELECT count(*) AS money FROM records WHERE currency IS NOT NULL\n'
  const running = await startApp(t, { files: { ...OFFERS, derivations: { 'rate.yaml': query } } })
  const answer = await send(running, ['PATCH', `${PROPERTIES}/currency`], { new_name: 'money' })
  assertEnvelope(answer, 400, 'OperationError', /^derivations\/rate\.yaml:3: /)
  assert.equal(await text(running), OFFERS.contract)
})

test('the plan of a new name lists the scripts that get it, which are not edited', async (t) => {
  const script = 'targets: [owner_note]\ninputs: [title, price]\nkind: script\nscript: note\n'
  const files = { ...OFFERS, derivations: { ...OFFERS.derivations, 'note.yaml': script } }
  const running = await startApp(t, { files })
  const plan = async (name: string): Promise<readonly string[]> => {
    const url = `${PROPERTIES}/${name}?dry_run=true`
    return assertOk(await send(running, ['PATCH', url], { new_name: 'other' })).json<ContractChangeAnswer>()
      .unedited
  }
  assert.deepEqual(await plan('title'), [
    'scripts/note is not edited: by derivations/note.yaml it gets the input "title" as "other"',
  ])
  assert.deepEqual(await plan('currency'), [])
})

test('a new name that no field can have is refused, and no formula is edited for it', async (t) => {
  const formula = 'targets: [rate]\nkind: sql\nexpression: price * 2\n'
  const running = await startApp(t, { files: { ...OFFERS, derivations: { 'rate.yaml': formula } } })
  const hostile = 'b; ALTER TABLE "$record" RENAME COLUMN b TO c'
  const url = `${PROPERTIES}/price?dry_run=true`
  const patched = await send(running, ['PATCH', url], { new_name: hostile })
  assertEnvelope(patched, 400, 'OperationError', /^contract\.yaml:\d+: the field name/)

  const put = ['PUT', '/api/contract?dry_run=true'] as const
  const changed = OFFERS.contract.replace('name: price', 'name: cost')
  for (const [renamed, message] of [
    [{ price: hostile }, /^derivations\/rate\.yaml:3: expression cannot be used: .*price/],
    [{ lacking: 'cost' }, /^renamed names "lacking"/],
  ] as const) {
    assertEnvelope(await send(running, put, { text: changed, renamed }), 400, 'OperationError', message)
  }
})

test('with a broken derivation, the removal of a field is refused as a request', async (t) => {
  const files = { ...OFFERS, derivations: { 'rate.yaml': 'targets: [rate' } }
  const remove = ['DELETE', `${PROPERTIES}/owner_note`] as const
  const running = await startApp(t, { files })
  assertEnvelope(await send(running, remove), 400, 'OperationError', /^derivations\/rate\.yaml:1: /)
  const fixed = await startApp(t, { files, sheet: { fixedDefinition: true } })
  assertEnvelope(await send(fixed, remove), 403, 'PermissionDeniedError', /read-only/)
})

test('a contract and derivation files change together, or not at all', async (t) => {
  const running = await startApp(t)
  const put = async (derivations: object, ...fields: readonly object[]): Promise<Answer> => {
    const [{ properties, ...entry }] = (await contract(running)).schema
    const document = {
      ...(await contract(running)),
      schema: [{ ...entry, properties: [...properties, ...fields] }],
    }
    return send(running, ['PUT', '/api/contract'], { document, derivations })
  }
  const double = 'targets: [double]\nkind: sql\nexpression: price * 2\n'
  const field = { name: 'double', logicalType: 'number' }
  const before = await text(running)

  const refused = await put({ 'double.yaml': double.replace('price', 'prize') }, field)
  assertEnvelope(refused, 400, 'OperationError', /derivations\/double\.yaml:3: .*prize/)
  assert.equal(await text(running), before)
  assertEnvelope(await put({ '../double.yaml': double }, field), 400, 'ValidationError', /file name/)
  assertEnvelope(await put({ 'none.yaml': null }), 404, 'SheetError', /no derivation "none\.yaml"/)

  const added = assertOk(await put({ 'double.yaml': double }, field)).json<ContractChangeAnswer>()
  assert.deepEqual(added.files.map(({ path }) => path).toSorted(), [
    'contract.yaml',
    'derivations/double.yaml',
  ])
  assert.deepEqual(
    added.targets.map(({ field: name, change }) => [name, change]),
    [['double', 'added']],
  )
  assert.equal(await text(running, 'derivations/double.yaml'), double)

  const [{ properties, ...entry }] = (await contract(running)).schema
  const kept = properties.filter(({ name }) => name !== 'double')
  const document = { ...(await contract(running)), schema: [{ ...entry, properties: kept }] }
  assertOk(await send(running, ['PUT', '/api/contract'], { document, derivations: { 'double.yaml': null } }))
  assert.equal(await text(running), before)
  assert.equal(await text(running, 'derivations/double.yaml'), '')

  const { change } = added
  const undone = await send(running, ['POST', '/api/definition/revert'], { change })
  assert.equal(undone.statusCode, 409, 'was changed again since')
})

test('a text that is given with another name of a field is the one after the change', async (t) => {
  const running = await startApp(t)
  const present = await contract(running)
  const [{ properties, ...entry }] = present.schema
  const document = {
    ...present,
    schema: [
      {
        ...entry,
        properties: properties.map((each) =>
          each['name'] === 'currency' ? { ...each, name: 'coin' } : each,
        ),
      },
    ],
  }
  const rate = (await text(running, 'derivations/rate.yaml')).replaceAll('currency', 'coin')
  const body = { document, renamed: { currency: 'coin' }, derivations: { 'rate.yaml': `# by coin\n${rate}` } }
  assertOk(await send(running, ['PUT', '/api/contract'], body))
  assert.equal(await text(running, 'derivations/rate.yaml'), `# by coin\n${rate}`)
})
