import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { initSheet } from '../../src/sheet/lifecycle/init-sheet.ts'
import { pullSheet } from '../../src/sheet/lifecycle/pull-sheet.ts'
import { pushSheet } from '../../src/sheet/lifecycle/push-sheet.ts'
import { validateSheet } from '../../src/sheet/lifecycle/validate-sheet.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { getRecord } from '../../src/sheet/queries/get-record.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { exportArchive } from '../../src/sheet/transfer/export-archive.ts'
import { contractText } from '../support/contract-with.ts'
import { onEnd } from '../support/on-end.ts'
import { startPostgres } from '../support/postgres.ts'
import { allBytes } from '../support/init-files.ts'
import { runColophon } from '../support/run-colophon.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

/** A module with a kind whose result is its input in capitals. */
const MODULE = `export const kinds = [
  {
    name: 'shout',
    parse: ({ field }, targets) => ({ spec: { field, targets }, usedFields: [field], requiredFields: [field], resources: [] }),
    prepare() {},
    plan: ({ field }, inputs) => ({
      outcome: 'run',
      plan: { request: 'shout', hashed: { text: inputs[field] }, evidence: {} },
    }),
    estimate: () => 0,
    async run({ targets }, { hashed }, context) {
      context.onSent()
      const value = { ok: true, value: hashed.text.toUpperCase() }
      return { ok: true, value: { values: Object.fromEntries(targets.map((target) => [target, value])), evidence: {} } }
    },
  },
]
`

/** Writes a sheet with a derivation of the kind, and its module beside it; the variable names that if `isSet`. */
async function writeShouting(t: TestContext, { isSet = true, module = MODULE } = {}): Promise<string> {
  const directory = await writeSheet(t, {
    contract: contractText(['{name: text, logicalType: string}', '{name: loud, logicalType: string}']),
    records: [{ id: 'a', text: 'hello' }],
    derivations: { 'loud.yaml': '{targets: [loud], inputs: [text], kind: shout, field: text}' },
  })
  const path = `${directory}-kinds.mjs`
  await writeFile(path, module)
  if (isSet) process.env['COLOPHON_KINDS'] = path
  onEnd(t, async () => {
    delete process.env['COLOPHON_KINDS']
    await rm(path)
  })
  return directory
}

async function open(t: TestContext, place: string): Promise<Sheet> {
  const sheet = await openSheet(place, { defaultActor: 'human:ann' })
  onEnd(t, () => sheet.close())
  return sheet
}

async function computed(sheet: Sheet): Promise<number> {
  const request = { actor: 'human:ann', targets: null, recordIds: null, force: false }
  return (await materialize(sheet, request)).materialized
}

async function faultsOf(place: string): Promise<string[]> {
  const faults: string[] = []
  for await (const { message } of validateSheet(place, { records: true })) faults.push(message)
  return faults
}

test('the kinds of the module that COLOPHON_KINDS names are there wherever derivation files are read', async (t) => {
  const directory = await writeShouting(t)
  const copy = `${directory}-copy`
  onEnd(t, () => rm(copy, { recursive: true, force: true }))
  const unpacked = join(copy, 'unpacked')
  assert.deepEqual(await faultsOf(directory), [])

  const url = (await startPostgres()).freshUrl()
  await pushSheet(directory, url, { actor: 'human:ann', note: null, dryRun: false, lockTimeoutMs: 5000 })
  assert.deepEqual(await faultsOf(url), [])
  const stored = await open(t, url)
  assert.equal(await computed(stored), 1)
  await pullSheet(stored, copy)

  const pulled = await open(t, copy)
  await pulled.deriving()
  const archive = `${copy}/copy.zip`
  await writeFile(archive, await allBytes(exportArchive(pulled)))
  const file = { path: archive, name: 'copy.zip' }
  await initSheet(unpacked, { kind: 'archive', file, maxBytes: 1e6 })
  const restored = await open(t, unpacked)
  const { json } = await getRecord(restored, 'a', null)
  const record = JSON.parse(new TextDecoder().decode(json)) as unknown
  assert.deepEqual([record, await computed(restored)], [{ id: 'a', text: 'hello', loud: 'HELLO' }, 0])
})

test('commands load the module too, from the directory in which they start', async (t) => {
  const directory = await writeShouting(t, { isSet: false })
  const without = await runColophon(['validate', directory, '--json'])
  assert.deepEqual([without.code, without.stdout.includes('unknown kind')], [1, true])
  const env = { COLOPHON_KINDS: `.${directory.slice(directory.lastIndexOf('/'))}-kinds.mjs` }
  const cwd = join(directory, '..')
  assert.equal((await runColophon(['validate', directory], { env, cwd })).code, 0)
  const run = await runColophon(['materialize', directory, '--actor', 'human:ann', '--json'], { env, cwd })
  assert.equal((JSON.parse(run.stdout) as { materialized: number }).materialized, 1, run.stderr)
})

test('a module that cannot be loaded or has no kinds is refused, whatever opens the sheet', async (t) => {
  for (const [module, reason] of [
    ['export const kinds = [', /^COLOPHON_KINDS names .*, which cannot be loaded: /],
    ['export const kinds = {}', /^COLOPHON_KINDS names .*, which does not export kinds; export an array/],
    ["export const kinds = [{name: 'shout'}]", /which does not export kinds/],
    [MODULE.replace("'shout'", "'http'"), /^two kinds of derivations have the same name/],
    [MODULE.replace("'shout'", "'write'"), /^a kind of derivations cannot be called write/],
  ] as const) {
    const directory = await writeShouting(t, { module })
    await assert.rejects(openSheet(directory), { type: 'OperationError', message: reason })
    await assert.rejects(faultsOf(directory), { type: 'OperationError', message: reason })
  }
})
