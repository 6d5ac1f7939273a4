import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Connection } from './connection.ts'
import { ANALYZE, PlanKeeper } from './table-statistics.ts'

/** A plan keeper, and the numbers of records at which it has updated the statistics. */
function keeperOf(): {
  readonly write: (lines: number, records: number) => Promise<void>
  updates: number[]
} {
  const updates: number[] = []
  let present = 0
  const exec = (sql: string): Promise<void> => {
    assert.equal(sql, ANALYZE)
    updates.push(present)
    return Promise.resolve()
  }
  const keeper = new PlanKeeper({ exec } as unknown as Connection)
  return {
    updates,
    write: async (lines, records) => {
      present = records
      keeper.grown(lines, records)
      await setImmediate()
    },
  }
}

test('statistics are updated whenever new records have doubled a sheet', async () => {
  const { write, updates } = keeperOf()
  for (let records = 1; records <= 16_000; records += 1) await write(1, records)
  assert.deepEqual(updates, [1000, 3000, 7000, 15_000])
})

test('a server that finds a large sheet updates them when its lines are as many as the records', async () => {
  const { write, updates } = keeperOf()
  for (let lines = 0; lines < 120_000; lines += 1000) await write(1000, 50_000)
  assert.deepEqual(updates, [50_000, 50_000])
})

test('writes during an update count for the next one', async () => {
  const updated = Promise.withResolvers<undefined>()
  let updates = 0
  const exec = (): Promise<undefined> => {
    updates += 1
    return updated.promise
  }
  const keeper = new PlanKeeper({ exec } as unknown as Connection)
  keeper.grown(1000, 1000)
  keeper.grown(5000, 1000)
  assert.equal(updates, 1)
  updated.resolve(undefined)
  await setImmediate()
  keeper.grown(1, 1000)
  assert.equal(updates, 2)
})
