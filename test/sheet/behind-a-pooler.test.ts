import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordsError, SheetError } from '../../src/errors/service-error.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { pushSheet } from '../../src/sheet/lifecycle/push-sheet.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { watchFrames } from '../../src/sheet/runs/watch/watch-frames.ts'
import { findPgbouncer } from '../support/find-program.ts'
import { onEnd } from '../support/on-end.ts'
import { startPgbouncer } from '../support/pgbouncer.ts'
import { startPostgres } from '../support/postgres.ts'
import { RATES, writeSheet } from '../support/sheet-fixture.ts'

const { skip, path: program } = findPgbouncer()
const ACTOR = 'human:ann'
const PUSH = { actor: ACTOR, note: null, dryRun: false, lockTimeoutMs: 5000 }

test('two servers share a sheet behind a session pooler', { skip }, async (t) => {
  const behind = await startPgbouncer(t, program, await startPostgres())
  const url = behind('sessions', 'session')
  await pushSheet(await writeSheet(t), url, PUSH)
  const open = async (): ReturnType<typeof openSheet> => {
    const sheet = await openSheet(url, { transport: parseStub(RATES), defaultActor: ACTOR })
    onEnd(t, () => sheet.close())
    return sheet
  }
  const [one, other] = [await open(), await open()]
  await upsertRecords(one, { records: [{ id: 'd', title: 'Dill', price: 3, currency: 'EUR' }] })
  const told: string[] = []
  const ended = Promise.withResolvers<void>()
  const watch = await watchFrames(other, null)
  const queue = watch.subscribe(() => {
    for (let frame = queue.take(); frame !== undefined; frame = queue.take()) {
      told.push(frame.kind)
      if (frame.kind === 'materialize.end') ended.resolve()
    }
  })
  await materialize(one, { targets: null, recordIds: null, force: false, actor: ACTOR })
  await ended.promise
  queue.close()
  assert.deepEqual(told, ['materialize.start', 'materialize.end'])
  const { records } = await listRecords(other, { filter: 'rate IS NOT NULL', sort: ['-id'] })
  assert.deepEqual(
    (JSON.parse(String(records)) as { id: string }[]).map(({ id }) => id),
    ['d', 'b', 'a'],
  )
})

test(
  'a transaction pooler is refused when the store is opened, and nothing is created',
  { skip },
  async (t) => {
    const behind = await startPgbouncer(t, program, await startPostgres())
    const refused = (error: unknown): boolean => {
      assert.ok(error instanceof RecordsError)
      assert.match(error.message, /lends connections for a transaction at a time; have it pool sessions/)
      return true
    }
    const directory = await writeSheet(t)
    await assert.rejects(pushSheet(directory, behind('transactions', 'transaction'), PUSH), refused)
    await assert.rejects(openSheet(behind('transactions', 'session')), SheetError)
    await pushSheet(directory, behind('transactions', 'session'), PUSH)
    await assert.rejects(openSheet(behind('transactions', 'transaction')), refused)
  },
)
