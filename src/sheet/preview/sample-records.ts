import { isJsonObject } from '../../contract/json/json.ts'
import type { RecordKey } from '../../store/cell-work.ts'
import type { SheetStore } from '../../store/sheet-store.ts'

/** Keys that are tried for each record of a sample, before the first records of the sheet are taken. */
const TRIES = 4

/**
 * Returns ids of records that look as if chosen at random, the same for the same seed as long as no record is added or deleted: fewer
 * than `count` in a smaller sheet. Reads only as many records as it returns, wherever they are.
 */
export async function sampleRecords(
  store: SheetStore,
  count: number,
  seed: number,
): Promise<readonly string[]> {
  const { total, lastKey } = await store.status()
  const found = new Set<string>()
  if (total > count) {
    const random = mulberry32(seed)
    for (let tries = 0; tries < count * TRIES && found.size < count; tries += 1) {
      const id = await firstAfter(store, Math.floor(random() * lastKey))
      if (id !== null) found.add(id)
    }
  }
  if (found.size < count) {
    for (const id of await idsAfter(store, 0, count)) if (found.size < count) found.add(id)
  }
  return [...found]
}

async function firstAfter(store: SheetStore, key: RecordKey): Promise<string | null> {
  return (await idsAfter(store, key, 1))[0] ?? null
}

async function idsAfter(store: SheetStore, key: RecordKey, limit: number): Promise<readonly string[]> {
  const page = await store.page({
    fields: ['id'],
    limit,
    after: { key, values: [] },
    filter: null,
    sort: [],
    skip: 0,
  })
  const records: unknown = JSON.parse(String(page.records))
  return Array.isArray(records)
    ? records.flatMap((record: unknown) =>
        isJsonObject(record) && typeof record['id'] === 'string' ? [record['id']] : [],
      )
    : []
}

/** Returns numbers in [0, 1) that look random and are the same for the same seed (mulberry32). */
function mulberry32(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
