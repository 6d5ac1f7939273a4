import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWith } from '../../../../test/support/contract-with.ts'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { NO_CHANGES, type FieldChanges } from '../../field-changes.ts'
import { PATIENT_LIMITS } from '../../suite/support/patient-limits.ts'
import { Database } from '../database/database.ts'
import { parseStoreUrl } from '../database/store-url.ts'
import { PostgresStore } from '../postgres-store.ts'

const NAMED = /^\$(text|sort|long|index|moment|unique)_/

test('each index is of the column that its name says, after fields swap names and are converted', async (t) => {
  const url = (await startPostgres()).freshUrl()
  const contract = (types: Readonly<Record<string, string>>): ReturnType<typeof contractWith> =>
    contractWith(
      ...Object.entries(types).map(
        ([name, type]) => `{name: ${name}, logicalType: ${type}, x-indexed: true}`,
      ),
    )
  const store = await PostgresStore.open(url, {
    definition: {
      contract: contract({ a: 'integer', b: 'integer', c: 'string', d: 'timestamp' }),
      targets: [],
    },
    directory: null,
    actor: 'human:ann',
    lockTimeoutMs: 1000,
    queryLimits: PATIENT_LIMITS,
    onSourceDiffers: () => undefined,
  })
  const db = new Database(parseStoreUrl(url))
  t.after(async () => {
    await store.close()
    await db.close()
  })
  const indexes = async (): Promise<Map<string, { column: string; file: number }>> => {
    const rows = await db.all(
      `SELECT relname AS name, relfilenode AS file, pg_get_indexdef(oid) AS sql FROM pg_class WHERE relkind = 'i' AND relname LIKE '$%'`,
    )
    return new Map(
      rows.flatMap(({ name, file, sql }) => {
        const column =
          /USING \w+ \(+(?:\w+\(+)*(?:EXTRACT\(epoch FROM \(*)?"?([a-z]|\$seq)\b/.exec(String(sql))?.[1] ??
          String(sql)
        return NAMED.test(String(name)) ? [[String(name), { column, file: Number(file) }] as const] : []
      }),
    )
  }
  const change = (
    types: Readonly<Record<string, string>>,
    changes: Partial<FieldChanges>,
  ): Promise<unknown> =>
    store.define({ contract: contract(types), targets: [], changes: { ...NO_CHANGES, ...changes } })
  const before = await indexes()
  const swap = new Map([
    ['a', 'b'],
    ['b', 'a'],
    ['d', 'e'],
  ])
  await change({ b: 'integer', a: 'integer', c: 'string', e: 'timestamp' }, { renamed: swap })
  const swapped = await indexes()
  assert.equal(swapped.get('$index_a')?.file, before.get('$index_b')?.file)
  assert.equal(swapped.get('$moment_e')?.file, before.get('$moment_d')?.file)
  const types = { b: 'integer', a: 'string', c: 'integer', e: 'timestamp' }
  const converted = new Map(['a', 'c'].map((field) => [field, { onInvalid: 'refuse' as const }]))
  await change(types, { converted })
  const names = [...(await indexes())].filter(([name]) => !name.startsWith('$long_'))
  for (const [name, { column }] of names) assert.equal(column, name.split('_')[1], name)
  assert.deepEqual(names.map(([name]) => name).toSorted(), [
    '$index_b',
    '$index_c',
    '$index_e',
    '$moment_e',
    '$sort_a',
    '$text_a',
  ])
})
