import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { oddValue } from '../../../test/support/odd-records.ts'
import { startPostgres } from '../../../test/support/postgres.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { seededRandom } from '../suite/support/random.ts'
import { FIRST_PAGE, HUMAN, TestSheet, type OpenStore } from '../suite/support/test-sheet.ts'
import { PostgresStore } from './postgres-store.ts'
import { PATIENT_LIMITS } from '../suite/support/patient-limits.ts'

const server = await startPostgres()

const open: OpenStore = (_directory, { contract, targets, ...options }) =>
  PostgresStore.open(server.freshUrl(), {
    ...options,
    directory: null,
    definition: { contract, targets },
    queryLimits: PATIENT_LIMITS,
  })

const TYPES = [
  'string',
  'integer',
  'number',
  'boolean',
  'date',
  'timestamp',
  'time',
  'array',
  'object',
] as const
const COUNT = 150

interface OddSheet {
  readonly sheet: TestSheet
  /** Its records as they were written. */
  readonly written: readonly JsonObject[]
  /** The page of all of them as it is read plainly. */
  readonly page: string
}

/** A sheet of records whose values are hard to keep. */
async function oddSheet(t: TestContext, seed: number): Promise<OddSheet> {
  const random = seededRandom(seed)
  const properties = TYPES.map((type) => `{name: f_${type}, logicalType: ${type}}`)
  const sheet = await TestSheet.make(t, open, { properties })
  const written = Array.from({ length: COUNT }, (_, number) => ({
    id: `r${number}`,
    ...Object.fromEntries(TYPES.map((type) => [`f_${type}`, oddValue(random, type)])),
  }))
  await sheet.write(written)
  return { sheet, written, page: await pageOf(sheet) }
}

async function pageOf(sheet: TestSheet): Promise<string> {
  return String((await sheet.store.page({ ...FIRST_PAGE, fields: sheet.fields, limit: COUNT })).records)
}

/** Clears every field of every record. */
async function clear({ sheet, written }: OddSheet): Promise<void> {
  const empty = Object.fromEntries(TYPES.map((type) => [`f_${type}`, null]))
  await sheet.write(written.map(({ id }) => ({ ...empty, id: id ?? null })))
}

test('earlier states of cleared, deleted and recreated records equal the plain reads of that time, byte for byte', async (t) => {
  const odd = await oddSheet(t, 20_261_121)
  const { sheet, page } = odd
  const { last: seq } = await sheet.store.history()
  const check = async (): Promise<void> => {
    const past = await sheet.store.pageAsOf({ fields: sheet.fields, limit: COUNT, after: null, seq })
    assert.equal(String(past.records), page)
  }
  await check()
  await clear(odd)
  await check()
  await sheet.empty()
  await check()
  await sheet.write(odd.written.toReversed())
  await check()
})

test('reverted values are exactly those that were written', async (t) => {
  const odd = await oddSheet(t, 20_261_122)
  const { sheet, written } = odd
  await clear(odd)
  const cells = written.flatMap((record) =>
    TYPES.map((type) => `f_${type}`)
      .filter((field) => record[field] !== null)
      .map((field) => ({ recordId: String(record['id']), field })),
  )
  const entries = await Promise.all(
    cells.map(async ({ recordId, field }) => {
      const latest = await sheet.latest(recordId, field)
      return { recordId, field, seq: Number(latest?.['seq']) }
    }),
  )
  const { reverted } = await sheet.store.revert({ actor: HUMAN, entries, run: null })
  assert.equal(reverted, cells.length)
  assert.equal(await pageOf(sheet), odd.page)
})

test('a snapshot has values as written, with the order of keys', async (t) => {
  const { sheet, written } = await oddSheet(t, 20_261_123)
  const directory = await mkdtemp(join(tmpdir(), 'colophon-odd-'))
  t.after(() => rm(directory, { recursive: true }))
  await sheet.store.snapshot(directory)
  const lines = (await readFile(join(directory, 'records.jsonl'), 'utf8')).split('\n').slice(0, -1)
  assert.deepEqual(
    lines,
    written.map((record) => JSON.stringify(record)),
  )
})
