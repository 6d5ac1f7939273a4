import assert from 'node:assert/strict'
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { contractText } from '../../../test/support/contract-with.ts'
import { parseContract } from '../../contract/odcs/parse-contract.ts'
import { setAsideFiles } from '../../provenance/set-aside.ts'
import { Connection } from './database/connection.ts'
import { storePaths } from './definition/create-store.ts'
import { logOf } from './read-log.ts'
import { PATIENT_LIMITS } from '../suite/support/patient-limits.ts'
import { SqliteStore } from './sqlite-store.ts'
import type { ProcessResponse, ProcessCommand } from './store-process.ts'
import type { WriterRequest } from './write/writer-protocol.ts'
import { Writer } from './write/writer.ts'

const REQUEST = {
  actor: 'system:import',
  lockTimeoutMs: 1000,
  define: { contractText: contractText(['{name: a, logicalType: string}']), targets: [] },
}

const STRACE = 'strace'

/** The reason why faults cannot be injected here, or false. */
const noStrace =
  spawnSync(STRACE, ['-f', '-e', 'inject=fsync:error=EIO:when=60000', 'true']).status === 0
    ? false
    : 'strace cannot inject faults here'

async function openWriter(directory: string): Promise<Writer> {
  const writer = new Writer()
  await writer.handle('open', { directory, ...REQUEST })
  return writer
}

async function newSheet(t: TestContext): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-faults-'))
  t.after(() => rmSync(directory, { recursive: true }))
  await (await openWriter(directory)).handle('close', null)
  return directory
}

test('D17: a writing connection has a write-ahead log and syncs each commit', async (t) => {
  const directory = await newSheet(t)
  const connection = Connection.forWriting(storePaths(directory).database)
  t.after(() => connection.close())
  assert.deepEqual({ ...connection.get('PRAGMA journal_mode') }, { journal_mode: 'wal' })
  assert.deepEqual({ ...connection.get('PRAGMA synchronous') }, { synchronous: 2 })
  assert.deepEqual({ ...connection.get('PRAGMA busy_timeout') }, { timeout: 0 })
})

test('D17: no write is acknowledged for a sheet.db that was removed while it was open', async (t) => {
  const directory = await newSheet(t)
  const writer = await openWriter(directory)
  t.after(() => writer.handle('close', null))
  rmSync(storePaths(directory).database)
  const body = { records: [{ id: 'x' }] }
  const request = {
    id: 1,
    operation: 'upsert',
    argument: { body, defaultActor: 'human:x', ifMatch: null },
  } as const
  await assert.rejects(writer.change([request]), {
    type: 'RecordsError',
    message: /^sheet\.db was removed or replaced/,
  })
})

test('D17: no write is acknowledged for a sheet.db that was overwritten by an older copy while it was open', async (t) => {
  const directory = await newSheet(t)
  const { database } = storePaths(directory)
  const older = join(directory, 'older.db')
  copyFileSync(database, older)
  const upsert = (id: string): WriterRequest => ({
    id: 1,
    operation: 'upsert',
    argument: { body: { records: [{ id }] }, defaultActor: 'human:x', ifMatch: null },
  })
  const before = await openWriter(directory)
  await before.change([upsert('x')])
  await before.handle('close', null)

  const writer = await openWriter(directory)
  t.after(() => writer.handle('close', null))
  // A checkpoint changes the file as well.
  utimesSync(database, 1, 1)
  assert.deepEqual(
    (await writer.change([upsert('y')])).map((outcome) => 'error' in outcome),
    [false],
  )
  await writer.handle('close', null)
  const last = await openWriter(directory)
  t.after(() => last.handle('close', null))
  copyFileSync(older, database)
  utimesSync(database, 2, 2)
  for (const id of ['z', 'again']) {
    await assert.rejects(last.change([upsert(id)]), {
      type: 'RecordsError',
      message: /^sheet\.db was overwritten by an older copy/,
    })
  }
})

test('a damaged sheet.db is a RecordsError for reads', async (t) => {
  const directory = await newSheet(t)
  const { database } = storePaths(directory)
  const store = await SqliteStore.open(directory, {
    definition: { contract: parseContract(REQUEST.define.contractText), targets: [] },
    actor: REQUEST.actor,
    lockTimeoutMs: 1000,
    queryLimits: PATIENT_LIMITS,
    onSourceDiffers: () => undefined,
  })
  t.after(() => store.close())
  writeFileSync(database, Buffer.alloc(statSync(database).size, 0x5a))
  await assert.rejects(store.record('x', ['id']), { type: 'RecordsError', message: /sheet\.db/ })
})

test('D17: a writer syncs for each commit', { skip: noStrace }, async (t) => {
  const directory = await newSheet(t)
  const few = await runWithFault(directory, 'fsync,fdatasync:delay_enter=0', ['a 10'])
  assert.equal(few.stored, 10)
  // With the tenth sync from here on failing, no more than nine commits are acknowledged.
  const { stored } = await runWithFault(directory, 'fsync,fdatasync:error=EIO:when=10+', ['b 20'])
  assert.ok(stored <= 9, `${stored} writes were acknowledged with 9 syncs`)
})

test(
  'D17: after a failed sync nothing is written, after a failed write the next one is, and acknowledged writes are there after a restart',
  { skip: noStrace },
  async (t) => {
    for (const [index, fault] of [
      'fsync,fdatasync:error=EIO:when=5',
      'pwrite64:error=EIO:when=120',
      'pwrite64:error=EDQUOT:when=120',
      'pwrite64:error=ENOSPC:when=120',
    ].entries()) {
      const directory = await newSheet(t)
      const { stored, answers } = await runWithFault(directory, fault, ['a 20', 'b 5', 'c 5'])
      assert.match(answers[1]?.error ?? '', /./, `${fault} did nothing`)
      const isFinal = fault.includes('fsync')
      for (const { did, error } of answers.slice(2)) {
        if (did !== 'write') continue
        if (isFinal) assert.match(String(error), /writing has stopped/, fault)
        else assert.equal(error ?? null, null, fault)
      }
      const ids = idsOf(directory)
      if (!isFinal)
        assert.deepEqual(
          logOf(directory).map((line) => line['record_id']),
          [...ids],
        )
      const writer = await openWriter(directory)
      const acknowledged = isFinal ? stored : stored - 10
      for (let number = 0; number < acknowledged; number += 1)
        assert.ok(ids.has(`a ${number}`), `${fault}: lost a ${number}`)
      assert.deepEqual(
        logOf(directory).map((line) => line['record_id']),
        [...ids],
      )
      assert.deepEqual(
        logOf(directory).map(({ seq }) => seq),
        [...ids].map((_, position) => position + 1),
      )
      // The process that could not commit has closed the store: its lines are not those of somebody else.
      assert.deepEqual(setAsideFiles(storePaths(directory).log), [], fault)
      await writer.handle('close', null)
      assert.ok(stored > 0, `fault ${index} came too early`)
    }
  },
)

/**
 * Runs a process that writes with faults injected into its system calls; returns the number of writes that it acknowledged.
 */
async function runWithFault(
  directory: string,
  fault: string,
  writes: readonly string[],
): Promise<{ stored: number; answers: ProcessResponse[] }> {
  const child = fork(new URL('./store-process.ts', import.meta.url), {
    execPath: STRACE,
    execArgv: ['-f', '-qq', '-o', '/dev/null', '-e', `inject=${fault}`, process.execPath],
  })
  const commands: ProcessCommand[] = [
    { do: 'open', request: { directory, ...REQUEST } },
    ...writes.map((write): ProcessCommand => {
      const [prefix, count] = write.split(' ')
      return { do: 'write', prefix: `${prefix} `, count: Number(count) }
    }),
    { do: 'close' },
  ]
  const answers: ProcessResponse[] = []
  let stored = 0
  const done = new Promise<void>((resolve) => {
    child.on('message', (answer: ProcessResponse) => {
      if (answer.did === 'stored') stored += 1
      else answers.push(answer)
      if (answers.length === commands.length) resolve()
    })
  })
  for (const command of commands) child.send(command)
  await done
  child.disconnect()
  await once(child, 'exit')
  return { stored, answers }
}

function idsOf(directory: string): Set<string> {
  const db = new DatabaseSync(storePaths(directory).database, { readOnly: true })
  try {
    return new Set(
      db
        .prepare('SELECT id FROM "$data" ORDER BY "$seq"')
        .all()
        .map(({ id }) => String(id)),
    )
  } finally {
    db.close()
  }
}
