import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { readCellStates } from '../../src/sheet/cells/read-cell-states.ts'
import { readStatus } from '../../src/sheet/cells/read-status.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { openOnEngine, skipOnPostgres } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { copiesOf } from '../support/sheet-copies.ts'
import { openRunSheet, type RunSheet } from '../support/run-fixture.ts'
import { TABLE, TableKind } from '../support/table-kind.ts'

async function openTable(
  t: TestContext,
  table: JsonObject | null,
  kind: TableKind | null = new TableKind(),
): Promise<RunSheet> {
  const run = await openRunSheet(
    t,
    {
      properties: ['code: string', 'label: string', 'other: string'],
      records: ['a', 'b', 'c', 'a'].map((code, index) => ({ id: String(index + 1), code })),
      derivations: () => ({
        'label.yaml': { kind: 'table', targets: ['label', 'other'], inputs: ['code'], field: 'code' },
      }),
    },
    kind === null ? {} : { kinds: [kind] },
  )
  await mkdir(dirname(join(run.directory, TABLE)))
  if (table !== null) await edit(run, table)
  return run
}

function edit(run: RunSheet, table: JsonObject): Promise<void> {
  return run.edit(TABLE, JSON.stringify(table))
}

async function statesOf({ sheet }: { readonly sheet: Sheet }): Promise<string> {
  const states = await readCellStates(sheet, { ids: ['1', '2', '3', '4'], targets: ['label'] })
  return [...states.values()].map(({ label }) => label).join(' ')
}

test('D32: an edited source makes the cells stale whose result it decides on, and no others', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openTable(t, { a: 'A', b: 'B', c: 'C', z: 'Z' })
  assert.equal((await run.run()).materialized, 8)
  assert.equal(await statesOf(run), 'fresh fresh fresh fresh')

  await edit(run, { a: 'AA', b: 'B', z: 'ZZ' })
  assert.equal(await statesOf(run), 'stale fresh stale stale')
  assert.deepEqual(await run.counts('other'), { fresh: 1, stale: 3 })
  assert.equal(
    (await planMaterialize(run.sheet, { targets: null, recordIds: null, force: false })).targets['label']
      ?.compute,
    3,
  )
  assert.equal((await run.run()).materialized, 6)
  assert.deepEqual([await run.value('1', 'label'), await run.value('3', 'label')], ['AA', null])
  assert.equal(await statesOf(run), 'fresh fresh fresh fresh')

  // Taken back before a run, an edit leaves cells that the next run finds unchanged.
  await edit(run, { a: 'A', b: 'B' })
  assert.equal(await statesOf(run), 'stale fresh fresh stale')
  await edit(run, { a: 'AA', b: 'B' })
  assert.deepEqual([(await run.run()).materialized, await statesOf(run)], [0, 'fresh fresh fresh fresh'])
})

test('reads and writes of records do not wait for the check after an edit', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openTable(t, { a: 'A', b: 'B', c: 'C' })
  await run.run()
  await edit(run, { a: 'AA', b: 'B', c: 'C' })
  const { store } = await run.sheet.current()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const work = store.work.bind(store)
  store.work = async (query) => {
    await held
    return work(query)
  }
  const states = statesOf(run)
  await run.write({ id: '5', code: 'b' })
  assert.equal(await run.value('5', 'code'), 'b')
  release()
  assert.equal(await states, 'stale fresh fresh stale')
})

test('reads of records do not wait while an edited source is read', async (t) => {
  if (skipOnPostgres(t)) return
  const kind = new TableKind()
  const run = await openTable(t, { a: 'A', b: 'B', c: 'C' }, kind)
  await run.run()
  await edit(run, { a: 'AA', b: 'B', c: 'C' })
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  kind.onRead = () => {
    begin()
    return held
  }
  const states = statesOf(run)
  await begun
  assert.equal(await run.value('2', 'label'), 'B')
  release()
  assert.equal(await states, 'stale fresh fresh stale')
})

test('an edit is noticed after a restart', async (t) => {
  if (skipOnPostgres(t)) return
  const kind = new TableKind()
  const run = await openTable(t, { a: 'A', b: 'B', c: 'C' }, kind)
  await run.run()
  await run.sheet.close()
  await edit(run, { a: 'A', b: 'BB', c: 'C' })
  const sheet = await openOnEngine(run.directory, { kinds: [kind] })
  onEnd(t, () => sheet.close())
  assert.equal(await statesOf({ sheet }), 'fresh stale fresh fresh')
})

test('a source that is missing or leads out of the sheet fails cells, and the rest of the sheet works', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openTable(t, null)
  const missing = await run.run()
  assert.equal(missing.failures[0]?.error, 'row "a" -> refs/table.json does not exist')
  await edit(run, { a: 'A', b: 'B', c: 'C' })
  assert.equal((await run.run()).materialized, 8)
  await run.edit(TABLE, null)
  assert.equal(await statesOf(run), 'stale stale stale stale')
  assert.equal((await run.run()).failures.length, 8)
  const outside = `${run.directory}.json`
  await writeFile(outside, '{}')
  onEnd(t, () => rm(outside))
  await symlink(outside, join(run.directory, TABLE))
  assert.match(
    (await run.run()).failures[0]?.error ?? '',
    /refs\/table\.json is a symbolic link out of the sheet/,
  )
})

test('a result that was computed from the source as it was is stale at once when that has changed meanwhile', async (t) => {
  const kind = new TableKind()
  const run = await openTable(t, { a: 'A', b: 'B', c: 'C' }, kind)
  kind.onRun = async (value) => {
    if (value !== 'A') return
    kind.onRun = () => Promise.resolve()
    await edit(run, { a: 'AA', b: 'B', c: 'C' })
    await run.status('label')
  }
  await run.start()
  assert.match(await statesOf(run), /^stale .* stale$/)
  await run.run()
  assert.deepEqual([await run.value('1', 'label'), await run.value('2', 'label')], ['AA', 'B'])
  assert.equal(await statesOf(run), 'fresh fresh fresh fresh')
})

test('archives and copies of a sheet have its sources', async (t) => {
  const copies = await mkdtemp(join(tmpdir(), 'colophon-copies-'))
  onEnd(t, () => rm(copies, { recursive: true, force: true }))
  const kind = pathToFileURL(join(import.meta.dirname, '..', 'support', 'table-kind.ts')).href
  const module = join(copies, 'kinds.mjs')
  await writeFile(module, `import { TableKind } from '${kind}'\nexport const kinds = [new TableKind()]\n`)
  process.env['COLOPHON_KINDS'] = module
  onEnd(t, () => void delete process.env['COLOPHON_KINDS'])
  const run = await openTable(t, { a: 'A', b: 'B', c: 'C' }, null)
  await run.run()
  for (const copy of await copiesOf(t, run.sheet)) {
    const sheet = await openSheet(copy, { defaultActor: 'human:ann' })
    onEnd(t, () => sheet.close())
    const { label } = await readStatus(sheet, ['label'])
    assert.equal(label?.fresh, 4, copy)
  }
})
