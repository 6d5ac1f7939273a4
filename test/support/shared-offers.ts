import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { materialize, type MaterializeResult } from '../../src/sheet/runs/materialize.ts'
import { openSheet, type SheetOptions } from '../../src/sheet/open-sheet.ts'
import { pushSheet } from '../../src/sheet/lifecycle/push-sheet.ts'
import type { RunSelection } from '../../src/sheet/runs/selection/run-selection.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { startWorker, type Worker } from '../../src/sheet/runs/start-worker.ts'
import { watchRun } from '../../src/sheet/runs/watch/watch-run.ts'
import type { RunId, StoredRun } from '../../src/store/stored-run.ts'
import { contractText } from './contract-with.ts'
import { startLocalApi, type LocalApi } from './local-api.ts'
import { onEnd } from './on-end.ts'
import { startPostgres } from './postgres.ts'
import { writeSheet } from './sheet-fixture.ts'

export const ACTOR = 'human:ann'
export const ALL = { targets: null, recordIds: null, force: false } as const

const CONTRACT = contractText([
  '{name: title, logicalType: string}',
  '{name: currency, logicalType: string}',
  '{name: rate, logicalType: number}',
  '{name: total, logicalType: number}',
])

/** A sheet in PostgreSQL that several processes have open, and the API that its derivations call. */
export interface SharedOffers {
  readonly api: LocalApi
  readonly url: string
  /** Opens the sheet once more, as another process would. */
  open(options?: Partial<SheetOptions>): Promise<Sheet>
}

/**
 * Pushes a sheet to PostgreSQL: `rate` is computed from the currency, `total` from the title and, by default, the rate; `totalsAt` is the
 * address of the API that computes totals, by default the same.
 */
export async function sharedOffers(
  t: TestContext,
  records: readonly JsonObject[],
  transport = '',
  input = 'rate',
  totalsAt: string | null = null,
): Promise<SharedOffers> {
  const postgres = await startPostgres()
  const api = await startLocalApi(t)
  api.answer('*', ({ path }) => ({ json: { value: path.length } }))
  const rate = `targets: [rate]\ninputs: [currency]\nkind: http\nurl: ${api.url}/rate/{{ currency }}\nresponse_path: value\n`
  const total = `targets: [total]\ninputs: [${input}, title]\nkind: http\nurl: ${totalsAt ?? api.url}/total/{{ ${input} }}/{{ title }}\nresponse_path: value\n`
  const directory = await writeSheet(t, {
    contract: CONTRACT,
    records,
    derivations: { 'rate.yaml': rate, 'total.yaml': total },
  })
  if (transport !== '') await writeFile(join(directory, 'transport.yaml'), transport)
  const url = postgres.freshUrl()
  await pushSheet(directory, url, { actor: ACTOR, note: null, dryRun: false, lockTimeoutMs: 5000 })
  return {
    api,
    url,
    open: async (options) => {
      const sheet = await openSheet(url, { defaultActor: ACTOR, ...options })
      onEnd(t, () => sheet.close())
      return sheet
    },
  }
}

export function offers(count: number, currencies: number): JsonObject[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `r${n}`,
    title: `t${n}`,
    currency: `C${n % currencies}`,
  }))
}

/** Starts workers, each with its own open sheet; they are stopped when the test ends. */
export async function startWorkers(
  t: TestContext,
  { open }: Pick<SharedOffers, 'open'>,
  count: number,
): Promise<readonly Worker[]> {
  const workers = await Promise.all(
    Array.from({ length: count }, async () => startWorker(await open({ handOverRuns: true }))),
  )
  for (const worker of workers) onEnd(t, () => worker.stop(0))
  return workers
}

export function runOffers(sheet: Sheet, selection: Partial<RunSelection> = {}): Promise<MaterializeResult> {
  return materialize(sheet, { ...ALL, ...selection, actor: ACTOR })
}

/** Returns the end of a run, as a subscriber receives it. */
export async function watchedEnd(t: TestContext, sheet: Sheet, id: RunId): Promise<StoredRun> {
  const watched = await watchRun(sheet, id)
  return new Promise<StoredRun>((resolve) => {
    const take = (): void => {
      for (let frame = queue.take(); frame !== undefined; frame = queue.take()) {
        if (frame.kind === 'run.end') resolve(frame.run)
      }
    }
    const queue = watched.subscribe(() => take())
    onEnd(t, () => queue.close())
    take()
  })
}

/** Counts the log entries of computed cells, by cell. */
export async function logged(sheet: Sheet): Promise<ReadonlyMap<string, number>> {
  const { store } = await sheet.current()
  const entries = new Map<string, number>()
  for (const { id } of await store.runs({ before: null, limit: 100 })) {
    for (const { recordId, field } of await store.runEntries({ run: id, before: null, limit: 100_000 })) {
      const cell = `${recordId}.${field}`
      entries.set(cell, (entries.get(cell) ?? 0) + 1)
    }
  }
  return entries
}

export async function assertAllOnce(sheet: Sheet, cells: number): Promise<void> {
  const entries = await logged(sheet)
  assert.equal(entries.size, cells)
  assert.deepEqual(
    [...entries.values()].filter((count) => count !== 1),
    [],
  )
}
