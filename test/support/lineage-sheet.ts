import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { OperationError } from '../../src/errors/service-error.ts'
import { changeContractField, removeContractField } from '../../src/sheet/definition/change/change-fields.ts'
import { exportLineage } from '../../src/sheet/lineage/export-lineage.ts'
import type { LineageFormat } from '../../src/sheet/lineage/lineage-formats.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { listRuns } from '../../src/sheet/runs/read-runs.ts'
import { startRevert } from '../../src/sheet/runs/revert.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { importRecords } from '../../src/sheet/transfer/import-records.ts'
import { deleteRecords } from '../../src/sheet/writes/delete-records.ts'
import { restoreRecords } from '../../src/sheet/writes/restore-records.ts'
import { reviewCells } from '../../src/sheet/writes/review-cells.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { contractText } from './contract-with.ts'
import { perEngine } from './engine.ts'
import { onEnd } from './on-end.ts'
import { openTestSheetIn, writeSheet } from './sheet-fixture.ts'
import { temporaryFile } from './temporary-file.ts'

/** A secret that calls of the sheet send. */
export const SECRET = 'sk-lineage-4711'

const ANN = 'human:ann'

const LOOK_UP = { match: 'currency', key_field: 'code', value_field: 'label' }

/** Derivations of each kind, by their files. */
export const DERIVATIONS: Readonly<Record<string, JsonObject>> = {
  'http.yaml': {
    targets: ['rate'],
    inputs: ['currency'],
    kind: 'http',
    url: 'https://rates.example/{{ currency }}',
    headers: { Authorization: 'Bearer {{ env.RATES_TOKEN }}' },
    response_path: 'rate',
  },
  'formula.yaml': { targets: ['cost'], kind: 'sql', expression: 'price * rate' },
  'query.yaml': {
    targets: ['same'],
    kind: 'sql',
    expression: 'SELECT count(*) AS same FROM records WHERE currency = :currency AND price > 1',
  },
  'table.yaml': { targets: ['label'], kind: 'import', source: 'refs/currencies.csv', ...LOOK_UP },
  'script.yaml': { targets: ['slug'], inputs: ['title'], kind: 'script', script: 'slug' },
  'model.yaml': { targets: ['kind'], kind: 'ai', model: 'small', prompt: 'What is a {{ title }}?' },
  'fallback.yaml': {
    targets: ['zone'],
    kind: 'first',
    steps: [
      { kind: 'import', source: 'refs/currencies.csv', ...LOOK_UP, accept: "zone <> 'euro' OR price > 1" },
      { kind: 'sql', expression: 'upper(title)' },
    ],
  },
  // Sheets in PostgreSQL have no sheets beside them.
  ...perEngine<Readonly<Record<string, JsonObject>>>({
    sqlite: {
      'other.yaml': { targets: ['known'], kind: 'cross_sheet', source_sheet: '../codes', ...LOOK_UP },
    },
    postgres: {},
  }),
}

/** Opens a sheet with a derivation of each kind, in which everything has happened that the log can have. */
export async function openLineageSheet(t: TestContext): Promise<Sheet> {
  const directory = await writeSheet(t, {
    contract: contractText([
      '{name: title, logicalType: string}',
      '{name: price, logicalType: number}',
      '{name: currency, logicalType: string}',
      '{name: tags, logicalType: array}',
      '{name: old, logicalType: string}',
      ...['rate', 'cost'].map((name) => `{name: ${name}, logicalType: number, x-editable-by: ['human:*']}`),
      '{name: same, logicalType: integer}',
      ...['label', 'slug', 'kind', 'zone', 'known'].map((name) => `{name: ${name}, logicalType: string}`),
    ]),
    records: [
      { id: 'a', title: 'Apple', price: 1.5, currency: 'EUR' },
      { id: 'b (2)', title: 'Bean', price: 2, currency: 'USD', old: 'x' },
      { id: 'c', title: 'Corn', currency: 'XXX' },
    ],
    derivations: Object.fromEntries(
      Object.entries(DERIVATIONS).map(([file, keys]) => [file, `${JSON.stringify(keys, null, 2)}\n`]),
    ),
  })
  const files = {
    'refs/currencies.csv': 'code,label\nEUR,euro\nUSD,dollar\n',
    'scripts/slug.mjs': '',
    'models.yaml': JSON.stringify({
      models: {
        small: { api: 'openai', url: 'https://models.example', model: 'm', price: { input: 1, output: 1 } },
      },
    }),
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
  process.env['RATES_TOKEN'] = SECRET
  onEnd(t, () => {
    delete process.env['RATES_TOKEN']
  })
  return openTestSheetIn(t, directory)
}

/** Makes a sheet of {@link openLineageSheet} have a line and a run of each kind. */
export async function liveThrough(t: TestContext, sheet: Sheet): Promise<void> {
  const run = (targets: readonly string[] | null, stopAfterFailures = 0): Promise<unknown> =>
    materialize(sheet, { targets, recordIds: null, force: false, stopAfterFailures, actor: 'agent:runner' })
  await assert.rejects(run(['kind'], 1), OperationError)
  await run(['rate', 'cost', 'same', 'label', 'zone'])
  // Scripts are not allowed, and the host of the model is not reached.
  await run(null)
  await upsertRecords(sheet, { records: [{ id: 'a', currency: 'USD', tags: ['new'] }], actor: ANN })
  await upsertRecords(sheet, { records: [{ id: 'c', cost: 9 }], actor: ANN })
  const cells = [{ recordId: 'a', field: 'rate' }]
  await reviewCells(sheet, { cells, verdict: 'flagged', note: 'Old?', actor: ANN })
  const change = { newName: 'name', onInvalid: 'refuse', editInputs: true } as const
  const options = { actor: ANN, note: null, dryRun: false, ifMatch: null }
  await changeContractField(sheet, 'title', { ...options, change })
  await removeContractField(sheet, 'old', { ...options, confirm: 1 })
  await run(['rate', 'cost'])
  const source = await temporaryFile(t, 'more.csv', 'id,name,price\nd,Date,3\na,Apples,1.5\n')
  await importRecords(sheet, source, { format: 'csv', actor: ANN })
  const { runs } = await listRuns(sheet, { limit: 1, cursor: null })
  await (
    await startRevert(sheet, { runId: runs[0]?.id ?? '', actor: ANN })
  ).done
  await deleteRecords(sheet, { ids: ['b (2)'], actor: ANN })
  await restoreRecords(sheet, { records: [{ recordId: 'b (2)', seq: null }], actor: ANN })
}

/** Exports the provenance of a sheet. */
export async function lineageText(
  sheet: Sheet,
  format: LineageFormat,
  namespace: string | null = null,
): Promise<string> {
  const { bytes } = await exportLineage(sheet, { format, namespace })
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Returns the events of OpenLineage of a sheet. */
export async function eventsOf(sheet: Sheet): Promise<readonly JsonObject[]> {
  const lines = (await lineageText(sheet, 'openlineage')).split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as JsonObject)
}
