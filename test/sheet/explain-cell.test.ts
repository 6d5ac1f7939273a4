import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonValue } from '../../src/contract/json/json.ts'
import { explainCell, type CellExplanation } from '../../src/sheet/cells/explain-cell.ts'
import { revertCell } from '../../src/sheet/runs/revert.ts'
import { changeStore } from '../support/engine.ts'
import {
  answerLookups,
  lookup,
  openLookupSheet,
  openRunSheet,
  writeDerivations,
  type RunSheet,
} from '../support/run-fixture.ts'

const explain = (run: RunSheet, id: string, target = 'b'): Promise<CellExplanation> =>
  explainCell(run.sheet, target, id)

/** The changes of a cell as `[part, was, is]`, inputs with their field. */
async function reasonsOf(run: RunSheet, id: string, target = 'b'): Promise<readonly JsonValue[]> {
  const { reasons } = await explain(run, id, target)
  return reasons.map((reason) => [
    reason.part === 'input' ? `input ${reason.field}` : reason.part === 'member' ? reason.name : reason.part,
    reason.was,
    reason.is,
  ])
}

const UNBLOCKED = { blockedBy: null, blockedReason: null, waitsFor: [] }

const DERIVATION = 'derivations/b.yaml'

const readDerivation = (run: RunSheet): Promise<Buffer> => readFile(join(run.directory, DERIVATION))

async function sha256(run: RunSheet): Promise<string> {
  return createHash('sha256')
    .update(await readDerivation(run))
    .digest('hex')
}

test('a cell that was never computed has no reasons, and neither has a fresh or overridden one', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', "{name: b, logicalType: string, x-editable-by: ['user:*']}"],
    records: [{ id: '1', a: 'x' }, { id: '2' }],
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a') }),
  })
  answerLookups(run.api)
  const nothing = { ...UNBLOCKED, reasons: [], failure: null, entry: null }
  assert.deepEqual(await explain(run, '1'), { ...nothing, state: 'missing' })
  assert.deepEqual(await explain(run, '2'), {
    ...nothing,
    state: 'blocked',
    blockedBy: 'a',
    blockedReason: 'input_empty',
  })

  await run.run()
  assert.deepEqual(await explain(run, '1'), {
    ...nothing,
    state: 'fresh',
    entry: await run.entry('1', 'b'),
  })
  assert.equal((await explain(run, '1')).entry?.['url'], `${run.api.url}/b/x`)

  await run.write({ id: '1', b: 'by hand' }, { id: '2', b: 'by hand' })
  await run.write({ id: '1', a: 'y' })
  for (const id of ['1', '2']) {
    const { entry, ...explanation } = await explain(run, id)
    assert.deepEqual(explanation, { ...UNBLOCKED, state: 'overridden', reasons: [], failure: null })
    assert.deepEqual([entry?.['source'], entry?.['value']], ['write', 'by hand'])
  }
})

test('a cell is stale because of changed inputs, and the URL and body made from them', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'n: number', 'list: array', 'seen: string', 'b: string'],
    records: [{ id: '1', a: 'x y', n: 0.1 + 0.2, list: [1, { z: null, a: 'é' }] }],
    derivations: (url) => ({
      'b.yaml': {
        targets: ['b'],
        inputs: ['seen', 'n'],
        kind: 'http',
        method: 'POST',
        url: `${url}/b/{{ a }}`,
        body_template: { list: '{{ list }}', text: 'n={{ n }}' },
        response_path: 'value',
      },
    }),
  })
  answerLookups(run.api)
  await run.run()
  const url = `${run.api.url}/b`
  const body = { list: [1, { z: null, a: 'é' }], text: 'n=0.30000000000000004' }

  await run.write({ id: '1', seen: 'now' })
  assert.equal((await explain(run, '1')).state, 'stale')
  assert.deepEqual(await reasonsOf(run, '1'), [['input seen', null, 'now']])

  await run.write({ id: '1', n: 1e-7, list: [] })
  await run.write({ id: '1', a: '/' })
  const { entry, failure, blockedBy } = await explain(run, '1')
  assert.deepEqual([entry, failure, blockedBy], [await run.entry('1', 'b'), null, null])
  assert.deepEqual(await reasonsOf(run, '1'), [
    ['input seen', null, 'now'],
    ['input n', 0.1 + 0.2, 1e-7],
    ['input a', 'x y', '/'],
    ['input list', [1, { z: null, a: 'é' }], []],
    ['url', `${url}/x%20y`, `${url}/%2F`],
    ['body', body, { list: [], text: 'n=1e-7' }],
  ])
  await run.run()
  assert.deepEqual(await reasonsOf(run, '1'), [])
})

test('D32: a change that was undone is not a reason, though the cell is stale', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.run()
  const file = await readDerivation(run)
  await run.write({ id: '1', a: 'y' })
  await run.edit(DERIVATION, `${String(file)}# another\n`)
  assert.equal((await reasonsOf(run, '1')).length, 3)
  await run.write({ id: '1', a: 'x' })
  await run.edit(DERIVATION, file)
  const { state, reasons } = await explain(run, '1')
  assert.deepEqual([state, reasons], ['stale', []])
})

test('D22: a stale cell whose input was cleared is blocked by it, and has no URL', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.run()
  await run.write({ id: '1', a: null })
  assert.equal((await explain(run, '1')).blockedBy, 'a')
  assert.deepEqual(await reasonsOf(run, '1'), [
    ['input a', 'x', null],
    ['url', `${run.api.url}/b/x`, null],
  ])
  await run.write({ id: '1', a: '..' })
  assert.equal((await explain(run, '1')).blockedBy, null)
  assert.deepEqual((await reasonsOf(run, '1')).at(-1), ['url', `${run.api.url}/b/x`, null])
})

test('of several versions of a derivation file, the one that computed the cell is returned', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'x' },
    { id: '2', a: 'y' },
  ])
  const { url } = run.api
  const version = async (name: string): Promise<string> => {
    await writeDerivations(run.directory, {
      'b.yaml': { ...lookup(url, 'b', 'a'), url: `${url}/b/${name}-{{ a }}` },
    })
    await run.checkStatus()
    return sha256(run)
  }
  const first = await sha256(run)
  await run.run({ recordIds: ['1'] })
  const second = await version('second')
  await run.run({ recordIds: ['2'] })
  await version('third')
  const fourth = await version('fourth')
  await run.write({ id: '2', a: 'z' })

  assert.deepEqual(await reasonsOf(run, '1'), [
    ['derivation', first, fourth],
    ['url', `${url}/b/x`, `${url}/b/fourth-x`],
  ])
  assert.deepEqual(await reasonsOf(run, '2'), [
    ['input a', 'y', 'z'],
    ['derivation', second, fourth],
    ['url', `${url}/b/second-y`, `${url}/b/fourth-z`],
  ])
  const texts = (await explain(run, '2')).reasons.find(({ part }) => part === 'derivation')
  assert.ok(texts?.part === 'derivation')
  assert.equal(texts.isText, String(await readDerivation(run)))
  assert.equal(texts.wasText, texts.isText.replace('/b/fourth-', '/b/second-'))
})

test('fields that are inputs only before or only after a change of the derivation file are not reasons by themselves', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'c: string', 'd: string', 'b: string'],
    records: [{ id: '1', a: 'x', c: 'c', d: 'd' }],
    derivations: (url) => ({ 'b.yaml': { ...lookup(url, 'b', 'a'), inputs: ['a', 'c'] } }),
  })
  answerLookups(run.api)
  await run.run()
  const before = await sha256(run)
  await writeDerivations(run.directory, {
    'b.yaml': { ...lookup(run.api.url, 'b', 'a'), inputs: ['a', 'd'] },
  })
  await run.write({ id: '1', c: 'other', d: 'other' })
  assert.deepEqual(await reasonsOf(run, '1'), [['derivation', before, await sha256(run)]])
})

test('a derivation file with a byte order mark, or under a new name, is recognized', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const text = await readDerivation(run)
  await run.edit(DERIVATION, Buffer.concat([Buffer.from('\uFEFF'), text]))
  await run.run()
  const was = await sha256(run)
  await run.edit(DERIVATION, text)
  await run.checkStatus()
  const is = await sha256(run)
  assert.notEqual(was, is)
  assert.deepEqual(await reasonsOf(run, '1'), [['derivation', was, is]])

  await run.edit(DERIVATION, null)
  await run.edit('derivations/renamed.yaml', text)
  assert.deepEqual(await reasonsOf(run, '1'), [['derivation', was, is]])
})

test('an unknown version of the derivation file is null; the URL is then that of the entry', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.run()
  const { url } = run.api
  await writeDerivations(run.directory, { 'b.yaml': { ...lookup(url, 'b', 'a'), url: `${url}/c/{{ a }}` } })
  await run.write({ id: '1', a: 'y' })
  // As in a store of the first version, which kept no files.
  const forget = 'DELETE FROM "$derivation"'
  await changeStore(run.directory, { sqlite: forget, postgres: forget })
  assert.deepEqual(await reasonsOf(run, '1'), [
    ['input a', 'x', 'y'],
    ['derivation', null, await sha256(run)],
    ['url', `${url}/b/x`, `${url}/c/y`],
  ])
  const reason = (await explain(run, '1')).reasons.find(({ part }) => part === 'derivation')
  assert.deepEqual(Object.keys(reason ?? {}), ['part', 'was', 'is'], 'no texts')
})

test('a failed cell has its failure, and reasons when it was computed before', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'x' },
    { id: '2', a: 'bad' },
  ])
  run.api.answer('/b/bad', { json: null, status: 503 })
  await run.run()
  const never = await explain(run, '2')
  assert.deepEqual(
    { ...never, failure: { ...never.failure, at: '' } },
    {
      ...UNBLOCKED,
      state: 'failed',
      reasons: [],
      entry: null,
      failure: {
        error: `GET ${run.api.url}/b/bad -> 503`,
        errorType: 'ServiceError',
        reason: 'status',
        responseBody: 'null',
        at: '',
      },
    },
  )
  assert.match(String(never.failure?.at), /^\d{4}-.*Z$/)

  await run.write({ id: '1', a: 'bad' })
  await run.run()
  const { state, failure, entry } = await explain(run, '1')
  assert.deepEqual([state, failure?.errorType, entry?.['value']], ['failed', 'ServiceError', '<x>'])
  assert.deepEqual(await reasonsOf(run, '1'), [
    ['input a', 'x', 'bad'],
    ['url', `${run.api.url}/b/x`, `${run.api.url}/b/bad`],
  ])

  // Tried again with nothing changed.
  await run.write({ id: '1', a: 'x' })
  run.api.answer('/b/x', { json: null, status: 500 })
  await run.run({ force: true })
  const again = await explain(run, '1')
  assert.deepEqual([again.state, again.reasons], ['failed', []])
  assert.match(String(again.failure?.error), /500$/)
})

test('a reverted value is explained by the inputs that it was computed from', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.run()
  await run.write({ id: '1', a: 'y' })
  await run.run()
  const seq = Number((await run.entry('1', 'b'))?.['seq'])
  await revertCell(run.sheet, { recordId: '1', field: 'b', seq, actor: 'user:ann' })
  assert.equal(await run.value('1', 'b'), '<x>')
  const { state, entry } = await explain(run, '1')
  assert.deepEqual([state, entry?.['source']], ['stale', 'revert'])
  assert.deepEqual(await reasonsOf(run, '1'), [
    ['input a', 'x', 'y'],
    ['url', `${run.api.url}/b/x`, `${run.api.url}/b/y`],
  ])
})

test('a cell of a recreated record is explained by the present record, and its entry is the latest of all', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.run()
  await run.delete('1')
  await run.write({ id: '1', a: 'y' })
  const { state, reasons, entry } = await explain(run, '1')
  assert.deepEqual([state, reasons, entry?.['source']], ['missing', [], 'delete'])
  await run.run()
  await run.write({ id: '1', a: 'z' })
  assert.deepEqual((await reasonsOf(run, '1'))[0], ['input a', 'y', 'z'])
})

test('a cell is stale through a derived input only if that has another value', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: [{ id: '1', a: 'x' }],
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a'), 'c.yaml': lookup(url, 'c', 'b') }),
  })
  answerLookups(run.api)
  await run.run()
  await run.write({ id: '1', a: 'y' })
  assert.equal((await explain(run, '1', 'c')).state, 'fresh')
  await run.run({ targets: ['b'] })
  assert.deepEqual((await reasonsOf(run, '1', 'c'))[0], ['input b', '<x>', '<y>'])
})

test('an unknown target is an OperationError, an absent record a SheetError, a broken derivation file a ContractError', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await assert.rejects(explain(run, '1', 'a'), { type: 'OperationError', message: /"a"; targets are b/ })
  for (const id of ['2', '', '\ud800', 'x'.repeat(1000)]) {
    await assert.rejects(explain(run, id), { type: 'SheetError' })
  }
  await run.delete('1')
  await assert.rejects(explain(run, '1'), { type: 'SheetError', message: /"1"/ })
  await run.edit(DERIVATION, null)
  await assert.rejects(explain(run, '1'), { type: 'OperationError' })
  await run.edit(DERIVATION, 'targets: 7')
  await assert.rejects(explain(run, '1'), { type: 'ContractError' })
})

test('inputs that are too long to compare, now or then, are not reasons', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'list: array', 'b: string'],
    records: [
      { id: 'long', a: 'x', list: [1] },
      { id: 'was-long', a: 'x'.repeat(200_000), list: [1] },
      // More than 128 KiB, and less than 256 as PostgreSQL writes it.
      { id: 'list', a: 'x', list: Array.from({ length: 80_000 }, () => 1) },
    ],
    derivations: (url) => ({
      'b.yaml': {
        targets: ['b'],
        inputs: ['a', 'list'],
        kind: 'http',
        method: 'POST',
        url: `${url}/b`,
        body_template: { a: '{{ a }}', list: '{{ list }}' },
        response_path: 'value',
      },
    }),
  })
  answerLookups(run.api)
  await run.run()
  await run.write(
    { id: 'long', a: 'y'.repeat(200_000) },
    { id: 'was-long', a: 'x' },
    { id: 'list', list: [2] },
  )
  for (const id of ['long', 'was-long', 'list']) {
    const { state, reasons } = await explain(run, id)
    assert.deepEqual([state, reasons], ['stale', []], id)
  }
})
