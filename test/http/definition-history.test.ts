import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeDefinition, type FieldRequests } from '../../src/sheet/definition/change/change-definition.ts'
import { readDerivationFile } from '../../src/sheet/definition/change/derivation-file.ts'
import { revertChange } from '../../src/sheet/definition/change/history.ts'
import { openOnEngine } from '../support/engine.ts'
import type { ChangeAnswer, DefinitionChangeAnswer, HistoryAnswer } from '../../src/wire/definition/change.ts'
import { assertEnvelope, CSRF, startApp, type TestApp } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { editSheet, OFFERS, writeSheet } from '../support/sheet-fixture.ts'

const RATE = OFFERS.derivations['rate.yaml'] as string
const EDITED = `# Rates of the day\n${RATE}`
const ACTOR = 'human:ann'
const NO_FIELDS: FieldRequests = { renamed: new Map(), removed: new Map(), converted: new Map() }

type Answer = Awaited<ReturnType<TestApp['app']['inject']>>

function write({ app }: TestApp, method: 'PUT' | 'POST', url: string, payload: object): Promise<Answer> {
  return app.inject({ method, url, headers: CSRF, payload })
}

function put(running: TestApp, text: string, note?: string): Promise<Answer> {
  return write(running, 'PUT', '/api/derivations/rate.yaml', {
    text,
    actor: ACTOR,
    ...(note !== undefined && { note }),
  })
}

function revert(running: TestApp, change: string, more: object = {}, query = ''): Promise<Answer> {
  return write(running, 'POST', `/api/definition/revert${query}`, { change, actor: 'human:ben', ...more })
}

async function history({ app }: TestApp, query = ''): Promise<HistoryAnswer> {
  return (await app.inject(`/api/definition/history${query}`)).json()
}

async function textOf({ app }: TestApp): Promise<string> {
  return (await app.inject('/api/derivations/rate.yaml')).json<{ text: string }>().text
}

/** Changes the contract as the routes of properties do. */
async function changeContract(
  { sheet }: TestApp,
  edit: (text: string) => string,
  changes: Partial<FieldRequests> = {},
): Promise<void> {
  const text = Buffer.from((await sheet.definition()).files.texts().get('contract.yaml') ?? []).toString()
  await changeDefinition(sheet, {
    files: [{ path: 'contract.yaml', bytes: Buffer.from(edit(text)), ifMatch: null }],
    actor: ACTOR,
    changes: { ...NO_FIELDS, ...changes },
  })
}

test('the history has every change with its actor and its texts, and can be read in pages', async (t) => {
  const running = await startApp(t)
  await put(running, EDITED, 'a comment')
  await put(running, RATE)
  const { changes, next_cursor: none } = await history(running)
  assert.equal(none, null)
  assert.deepEqual(
    changes.map(({ id, actor, note, reverts, files }) => [id, actor, note, reverts, files.length]),
    [
      ['2', ACTOR, null, null, 1],
      ['1', ACTOR, 'a comment', null, 1],
    ],
  )
  const first = (await running.app.inject('/api/definition/history/1')).json<ChangeAnswer>()
  assert.deepEqual(
    first.files.map(({ path, text_before: before, text_after: after }) => [path, before, after]),
    [['derivations/rate.yaml', RATE, EDITED]],
  )
  assert.equal(first.effect?.targets[0]?.change, 'changed')
  const page = await history(running, '?limit=1')
  assert.deepEqual(page.changes, changes.slice(0, 1))
  assert.deepEqual(await history(running, `?cursor=${page.next_cursor}`), {
    changes: changes.slice(1),
    next_cursor: null,
  })
  for (const id of ['3', '0', 'x', '99999999999999999999']) {
    assertEnvelope(await running.app.inject(`/api/definition/history/${id}`), 'SheetError', /no change/)
  }
})

test('a change is taken back, which is a change that can be taken back', async (t) => {
  const running = await startApp(t)
  await put(running, EDITED)
  const plan = (await revert(running, '1', {}, '?dry_run=true')).json<DefinitionChangeAnswer>()
  assert.equal(await textOf(running), EDITED)
  const done = (await revert(running, '1', { note: 'wrong' })).json<DefinitionChangeAnswer>()
  const { recomputing, ...effect } = plan
  assert.deepEqual(recomputing, { targets: {}, calls: 0, cost: 0 })
  assert.deepEqual({ ...effect, dry_run: false, change: '2' }, done)
  assert.equal(await textOf(running), RATE)
  await revert(running, '2')
  assert.equal(await textOf(running), EDITED)
  assert.deepEqual(
    (await history(running)).changes.map(({ actor, reverts }) => [actor, reverts]),
    [
      ['human:ben', '2'],
      ['human:ben', '1'],
      [ACTOR, null],
    ],
  )
  const refused = await revert(running, '1')
  assert.equal(refused.statusCode, 200, 'the file has the text of change 1 again')
  const outdated = await revert(running, '1')
  assert.equal(outdated.statusCode, 409)
  assertEnvelope(outdated, 'OperationError', /rate\.yaml was changed again after change 1/)
})

test('an edit of the files is in the history without an actor, and can be taken back', async (t) => {
  const directory = await writeSheet(t)
  const open = async (): Promise<Awaited<ReturnType<typeof openOnEngine>>> => openOnEngine(directory)
  await (await open()).close()
  await editSheet(directory, 'derivations/rate.yaml', EDITED)
  await editSheet(directory, 'contract.yaml', (text) =>
    text.replace('{name: title,', '{name: title, description: T,'),
  )
  const sheet = await open()
  onEnd(t, () => sheet.close())
  const { store } = await sheet.defined()
  const changes = await store.definitionChanges({ before: null, limit: 10 })
  const paths = changes.flatMap(({ files }) => files.map(({ path }) => path))
  assert.deepEqual(paths.toSorted(), ['contract.yaml', 'derivations/rate.yaml'])
  assert.ok(changes.every(({ effect }) => effect === null))
  const takeBack = async (change: string): Promise<unknown> =>
    revertChange(sheet, { change, actor: ACTOR, note: null, confirm: new Map(), dryRun: false })
  for (const { id } of changes) await takeBack(id)
  assert.equal((await readDerivationFile(sheet, 'rate.yaml')).text, RATE)
  // A byte order mark is no part of the text that the history has.
  await editSheet(directory, 'derivations/rate.yaml', `\uFEFF${EDITED}`)
  const [found] = await (await sheet.defined()).store.definitionChanges({ before: null, limit: 1 })
  await takeBack(String(found?.id))
  assert.equal((await readDerivationFile(sheet, 'rate.yaml')).text, RATE)
})

test('taking back a change of fields gives back their names and their values', async (t) => {
  const running = await startApp(t)
  const titles = async (field: string): Promise<unknown> =>
    (await running.app.inject(`/api/records/a?fields=${field}`)).json<Record<string, unknown>>()[field]
  await changeContract(running, (text) => text.replace('name: title', 'name: label'), {
    renamed: new Map([['title', 'label']]),
  })
  assert.equal(await titles('label'), 'Apple')
  assert.equal((await revert(running, '1')).statusCode, 200)
  assert.equal(await titles('title'), 'Apple')

  await changeContract(running, (text) => text.replace(/ *- \{name: price.*\n/, ''), {
    removed: new Map([['price', 3]]),
  })
  assert.equal((await revert(running, '3')).statusCode, 200)
  assert.equal(await titles('price'), 1.5)

  await changeContract(running, (text) =>
    text.replace(/ *- \{name: price.*\n/, '$&      - {name: size, logicalType: integer}\n'),
  )
  await write(running, 'POST', '/api/records', { records: [{ id: 'a', size: 4 }], actor: ACTOR })
  const refused = await revert(running, '5')
  assert.equal(refused.statusCode, 400, refused.body)
  assertEnvelope(refused, 'OperationError', /size/)
  assert.equal((await revert(running, '5', { confirm: { size: 1 } })).statusCode, 200)
  assert.equal(await titles('price'), 1.5)

  await changeContract(running, (text) => text.replace('string, required: true}', 'integer}'), {
    converted: new Map([['title', { onInvalid: 'null' }]]),
  })
  assert.equal(await titles('title'), null)
  assert.equal((await revert(running, '7')).statusCode, 200)
  assert.equal(await titles('title'), 'Apple')

  await changeContract(
    running,
    (text) => text.replace('name: title, logicalType: string', 'name: label, logicalType: array'),
    {
      renamed: new Map([['title', 'label']]),
      converted: new Map([['label', { onInvalid: 'refuse' }]]),
    },
  )
  assert.deepEqual(await titles('label'), ['Apple'])
  assert.equal((await revert(running, '9')).statusCode, 200)
  assert.equal(await titles('title'), 'Apple')
})
