import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  ConflictError,
  OperationError,
  PermissionDeniedError,
  SheetError,
  ValidationError,
} from '../../src/errors/service-error.ts'
import { checkProof, parseProof } from '../../src/proof/entry-proof.ts'
import { sha256, verifySignature } from '../../src/proof/node-primitives.ts'
import { changeContractField } from '../../src/sheet/definition/change/change-fields.ts'
import { listChanges, revertChange } from '../../src/sheet/definition/change/history.ts'
import { makeCheckpoint, proveEntry } from '../../src/sheet/proof/prove.ts'
import { exportArchive } from '../../src/sheet/transfer/export-archive.ts'
import { importRecords } from '../../src/sheet/transfer/import-records.ts'
import { verifySheet, type Verification, type VerifyOptions } from '../../src/sheet/verify/verify-sheet.ts'
import { deleteRecords } from '../../src/sheet/writes/delete-records.ts'
import { eraseValues, type ErasureReport } from '../../src/sheet/writes/erase-values.ts'
import { acceptProposal, propose } from '../../src/sheet/writes/proposals.ts'
import { restoreRecords } from '../../src/sheet/writes/restore-records.ts'
import { reviewCells } from '../../src/sheet/writes/review-cells.ts'
import { everythingStored, placeOnEngine, readLog } from '../support/engine.ts'
import { allBytes } from '../support/init-files.ts'
import { lineageText } from '../support/lineage-sheet.ts'
import { lookup, openRunSheet, type RunSheet } from '../support/run-fixture.ts'
import { temporaryFile } from '../support/temporary-file.ts'

const ANN = 'human:ann'
const GIVEN: VerifyOptions = { checkpoint: null, key: null, source: null, maxBytes: 1e9 }

const PRIMITIVES = { sha256, verify: verifySignature }

/** Texts that are nowhere but in values of one record, and in what follows from them. */
const SECRET = 'pomegranate'
const LABEL = 'tangerine'

/** Opens a sheet in which a record has had secret values in each way that there is. */
async function openTold(t: TestContext): Promise<RunSheet> {
  const run = await openRunSheet(t, {
    properties: ['fruit: string', 'label: string', 'shown: string', 'count: integer', 'colour: string'],
    records: [{ id: 'other', fruit: 'apple' }],
    derivations: (url) => ({
      'label.yaml': lookup(url, 'label', 'fruit'),
      'shown.yaml': { targets: ['shown'], kind: 'sql', expression: `upper(label)` },
    }),
  })
  const { sheet, api } = run
  api.answer('*', ({ path }) =>
    path.includes('fails')
      ? { status: 400, json: { error: `no such ${decodeURIComponent(path)}` } }
      : { json: { value: path.includes(SECRET) ? LABEL : 'plain' } },
  )
  const file = await temporaryFile(
    t,
    'more.csv',
    `id,fruit,count,colour\nx,${SECRET},1,vermilion\nnear,pear,2,green\n`,
  )
  await importRecords(sheet, file, { format: 'csv', actor: ANN })
  await run.run()
  const cells = [{ recordId: 'x', field: 'label' }]
  await reviewCells(sheet, { cells, verdict: 'flagged', note: `Is ${LABEL} right?`, actor: ANN })
  await run.write({ id: 'x', fruit: `${SECRET} fails` })
  await run.start()
  await deleteRecords(sheet, { ids: ['x'], actor: ANN })
  await restoreRecords(sheet, { records: [{ recordId: 'x', seq: null }], actor: ANN })
  const change = { records: [{ id: 'x', fruit: `${SECRET}s`, count: 7 }] }
  const { id } = await propose(sheet, { change, note: null, actor: 'agent:bob' })
  await acceptProposal(sheet, { id, actor: ANN })
  await run.run()
  return run
}

async function holds(run: RunSheet, options: Partial<VerifyOptions> = {}): Promise<Verification> {
  const verified = await verifySheet(await placeOnEngine(run.directory), { ...GIVEN, ...options })
  assert.deepEqual(verified.differences.listed, [])
  return verified
}

async function storedTexts(run: RunSheet): Promise<string> {
  return (await everythingStored(run.directory)).join('\n').toLowerCase()
}

function erase(
  run: RunSheet,
  fields: readonly string[] | null,
  ...ids: readonly string[]
): Promise<ErasureReport> {
  return eraseValues(run.sheet, { recordIds: ids, fields, actor: ANN })
}

test('erased values are nowhere any more, and the log holds with a checkpoint of before', async (t) => {
  const run = await openTold(t)
  const { sheet } = run
  const kept = await temporaryFile(t, 'kept.txt', (await makeCheckpoint(sheet)).note)
  const before = await readLog(run.directory)
  assert.match(await storedTexts(run), /pomegranate[^]*tangerine|tangerine[^]*pomegranate/)
  const tried = await eraseValues(sheet, {
    recordIds: ['x'],
    fields: ['fruit', 'label', 'shown'],
    actor: ANN,
    dryRun: true,
  })
  assert.deepEqual([await readLog(run.directory), tried.isCompacted], [before, false])
  const { entries, lines, isCompacted, dependentFields } = await erase(run, ['fruit', 'label', 'shown'], 'x')
  assert.deepEqual([isCompacted, dependentFields, entries, lines], [true, [], tried.entries, tried.lines])
  assert.ok(lines > 5)
  const stored = await storedTexts(run)
  assert.ok(!stored.includes(SECRET) && !stored.includes(LABEL))
  // Other values of the record, and those of records in the same lines, stay.
  const { fruit, label, count, colour } = await run.record('x')
  assert.deepEqual([fruit, label, count, colour], [null, null, 7, 'vermilion'])
  assert.deepEqual(await run.value('near', 'fruit'), 'pear')
  assert.deepEqual(
    (await run.history('near', 'fruit')).map(({ value }) => value),
    ['pear'],
  )
  const verified = await holds(run, { checkpoint: kept.path })
  assert.deepEqual([verified.erasedLines, verified.checkpoints.covered.outside], [lines, before.length])
  const after = await readLog(run.directory)
  const last = after.at(-1) ?? {}
  assert.deepEqual(
    last['lines'],
    after.flatMap(({ seq, erased }) => (erased === undefined ? [] : [seq])),
  )
  assert.deepEqual([last['source'], last['record_id'], last['actor']], ['erase', 'x', ANN])
  // Everything goes on.
  await run.checkStatus()
  assert.deepEqual(await run.counts('label'), { fresh: 2, missing: 1 })
  await run.write({ id: 'x', fruit: 'plum' })
  await run.run()
  assert.equal(await run.value('x', 'shown'), 'PLAIN')
  await makeCheckpoint(sheet)
  await holds(run, { checkpoint: kept.path })
  for (const format of ['openlineage', 'prov-json'] as const)
    assert.ok(!(await lineageText(sheet, format)).includes(SECRET))
  const archive = await temporaryFile(t, 'sheet.zip', await allBytes(exportArchive(sheet)))
  const { differences } = await verifySheet(archive.path, { ...GIVEN, checkpoint: kept.path })
  assert.deepEqual(differences.listed, [])
})

test('a record is erased as a whole, also when it was deleted before', async (t) => {
  const run = await openTold(t)
  await erase(run, null, 'x')
  const stored = await storedTexts(run)
  for (const text of [SECRET, LABEL, 'vermilion']) assert.ok(!stored.includes(text), text)
  await assert.rejects(run.record('x'), SheetError)
  await holds(run)
  const history = await run.history('x', 'fruit')
  assert.deepEqual([...new Set(history.map(({ value }) => value))], [null])
  // Nothing is left to erase.
  assert.deepEqual((await erase(run, null, 'x')).entries, [])
  await run.write({ id: 'near', colour: 'blue' })
  await run.delete('near')
  await erase(run, null, 'near')
  assert.ok(!(await storedTexts(run)).includes('blue'))
  await holds(run)
})

test('values under earlier names and types are erased with those of their field', async (t) => {
  const run = await openTold(t)
  const options = { actor: ANN, note: null, dryRun: false, ifMatch: null }
  await run.write({ id: 'x', colour: '4711' })
  const rename = { newName: 'shade', onInvalid: 'refuse', editInputs: true } as const
  await changeContractField(run.sheet, 'colour', { ...options, change: rename })
  const convert = { logicalType: 'integer', onInvalid: 'null', editInputs: true } as const
  await changeContractField(run.sheet, 'shade', { ...options, change: convert })
  assert.equal(await run.value('x', 'shade'), 4711)
  await erase(run, ['shade'], 'x')
  const stored = await storedTexts(run)
  assert.ok(!stored.includes('4711') && !stored.includes('vermilion'))
  await holds(run)
})

test('values of the imported file that are erased are not expected any more', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['code: string'],
    records: [
      { id: 'x', code: '4711' },
      { id: 'y', code: '12' },
    ],
    derivations: () => ({}),
  })
  const { sheet } = run
  const cells = [{ recordId: 'x', field: 'code' }]
  await reviewCells(sheet, { cells, verdict: 'approved', note: null, actor: ANN })
  const change = { logicalType: 'integer', onInvalid: 'null', editInputs: true } as const
  const options = { actor: ANN, note: null, dryRun: false, ifMatch: null }
  await changeContractField(sheet, 'code', { ...options, change })
  await erase(run, ['code'], 'x')
  await holds(run)
  // The values of before come back, but for the erased one.
  const { changes } = await listChanges(sheet, { limit: 1, cursor: null })
  const undone = { change: changes[0]?.id ?? '', actor: ANN, note: null, confirm: new Map(), dryRun: false }
  await revertChange(sheet, undone)
  assert.deepEqual([await run.value('x', 'code'), await run.value('y', 'code')], [null, '12'])
  await holds(run)
  await run.delete('y')
  await erase(run, null, 'y')
  await holds(run)
})

test('a value that a conversion has lost, and no line has, is erased', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['code: string'],
    records: [{ id: 'x', code: SECRET }],
    derivations: () => ({}),
  })
  await run.record('x')
  await rm(join(run.directory, 'records.jsonl'))
  const change = { logicalType: 'integer', onInvalid: 'null', editInputs: true } as const
  const options = { actor: ANN, note: null, dryRun: false, ifMatch: null }
  await changeContractField(run.sheet, 'code', { ...options, change })
  assert.ok((await storedTexts(run)).includes(SECRET))
  assert.equal((await erase(run, ['code'], 'x')).entries.length, 1)
  assert.ok(!(await storedTexts(run)).includes(SECRET))
})

test('a proof of a line from which values were erased holds, and says so', async (t) => {
  const run = await openTold(t)
  await makeCheckpoint(run.sheet)
  const [imported] = (await readLog(run.directory)).filter(({ rows }) => rows !== undefined)
  const seq = Number(imported?.['seq'])
  const { dependentFields } = await erase(run, ['fruit'], 'x')
  assert.deepEqual(dependentFields, ['label', 'shown'])
  assert.deepEqual(await run.counts('label'), { fresh: 2, stale: 1 })
  const proof = parseProof(JSON.stringify(await proveEntry(run.sheet, { seq })))
  assert.ok(proof)
  const checked = checkProof(PRIMITIVES, proof, null)
  assert.deepEqual([checked.faults, checked.isErased], [[], true])
  // What is left of it proves nothing: anybody can have written it.
  const cell = { record_id: 'near', field: 'fruit', value: 'pear' }
  const { faults } = checkProof(PRIMITIVES, { ...proof, proof: { ...proof.proof, cell } }, null)
  assert.deepEqual(faults, ['Values were erased from the line, so that it proves no value any more.'])
  await assert.rejects(proveEntry(run.sheet, { recordId: 'near', field: 'fruit' }), OperationError)
})

test('what can be erased is checked before anything is', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['{name: name, logicalType: string, required: true}', 'note: string'],
    records: [{ id: 'x', name: 'Ann' }],
    derivations: () => ({}),
  })
  const { sheet } = run
  await run.write({ id: 'x', note: 'a' })
  const before = await readLog(run.directory)
  await assert.rejects(erase(run, ['name'], 'x'), ValidationError)
  await assert.rejects(erase(run, ['id'], 'x'), /the id of a record cannot be erased/)
  await assert.rejects(erase(run, ['nothing'], 'x'), ValidationError)
  await assert.rejects(erase(run, [], 'x'), ValidationError)
  await assert.rejects(erase(run, null), ValidationError)
  await assert.rejects(erase(run, ['note'], 'x', 'unknown'), SheetError)
  const change = { records: [{ id: 'x', note: 'b' }] }
  const { id } = await propose(sheet, { change, note: null, actor: ANN })
  await assert.rejects(erase(run, ['note'], 'x'), (error: unknown) => {
    assert.ok(error instanceof ConflictError)
    assert.match(error.message, new RegExp(`proposal ${id}`))
    return true
  })
  assert.deepEqual(await readLog(run.directory), before)
  const deletable = `    customProperties: [{property: deletableBy, value: ['human:boss']}]\n`
  await run.edit('contract.yaml', (text) => `${text}${deletable}`)
  await assert.rejects(erase(run, ['note'], 'x'), PermissionDeniedError)
})

test('nothing is erased during a run, nor where a call was recorded that was not looked at', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['fruit: string', 'label: string'],
    records: [{ id: 'x', fruit: SECRET }],
    derivations: (url) => ({ 'label.yaml': lookup(url, 'label', 'fruit') }),
  })
  run.api.answer('*', { json: { value: LABEL } })
  const hold = run.api.hold(`/label/${SECRET}`)
  const ended = run.run()
  await hold.arrived()
  await assert.rejects(erase(run, ['fruit'], 'x'), /run 1 has not ended/)
  hold.release()
  await ended
  const { store } = await run.sheet.current()
  const calls = { requests: [], places: [], upTo: 0 }
  const request = { recordIds: ['x'], fields: ['fruit'], actor: ANN, calls, dryRun: false }
  await assert.rejects(store.erase(request), /calls were recorded meanwhile/)
  assert.equal(await run.value('x', 'fruit'), SECRET)
})
