import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { after, before, suite, test, type TestContext } from 'node:test'
import { contractText } from '../../../test/support/contract-with.ts'
import { LockTimeoutError } from '../../errors/service-error.ts'
import { wholeLine } from '../../provenance/log-line.ts'
import { seededRandom } from '../suite/support/random.ts'
import { storePaths } from './definition/create-store.ts'
import { logOf } from './read-log.ts'
import { takeRunLock } from './database/run-lock.ts'
import type { ProcessResponse, ProcessCommand } from './store-process.ts'
import { WriterClient } from './write/writer-client.ts'
import type { OpenRequest } from './write/writer-protocol.ts'
import { Writer } from './write/writer.ts'

const CONTRACT = contractText(['{name: a, logicalType: string}'])

/** A process with a separate writer. */
class Child {
  readonly process: ChildProcess = fork(new URL('./store-process.ts', import.meta.url))
  stored = 0
  readonly #answers: ProcessResponse[] = []
  #wake: () => void = () => undefined

  constructor() {
    this.process.on('message', (answer: ProcessResponse) => {
      if (answer.did === 'stored') this.stored += 1
      else this.#answers.push(answer)
      this.#wake()
    })
  }

  tell(command: ProcessCommand): void {
    this.process.send(command)
  }

  /** Waits for a condition, which is checked after each response. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async answer(): Promise<void> {
    await this.until(() => this.#answers.length > 0)
    assert.equal(this.#answers.shift()?.error, undefined)
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return
    this.process.kill('SIGKILL')
    await once(this.process, 'exit')
  }
}

function directoryFor(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-processes-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}

function openRequest(directory: string, lockTimeoutMs = 10_000): OpenRequest {
  return { directory, actor: 'system:import', lockTimeoutMs, define: { contractText: CONTRACT, targets: [] } }
}

async function openWriter(t: TestContext, directory: string, lockTimeoutMs?: number): Promise<WriterClient> {
  const writer = new WriterClient()
  t.after(() => writer.close())
  await writer.call('open', openRequest(directory, lockTimeoutMs))
  return writer
}

const write = (writer: WriterClient, id: string): Promise<unknown> =>
  writer.call('upsert', { body: { records: [{ id }] }, defaultActor: 'human:ann', ifMatch: null })

suite('SQLite: several processes', () => {
  let children: Child[] = []
  before(() => {
    children = [new Child(), new Child()]
  })
  after(() => Promise.all(children.map((child) => child.kill())))

  test('D2: several processes that open a new sheet at once import it once', async (t) => {
    for (let round = 0; round < 6; round += 1) {
      const directory = directoryFor(t)
      writeFileSync(storePaths(directory).source, '{"id":"a"}\n'.repeat(1))
      for (const child of children) child.tell({ do: 'open', request: openRequest(directory) })
      for (const child of children) await child.answer()
      for (const child of children) child.tell({ do: 'close' })
      for (const child of children) await child.answer()
      assert.deepEqual(
        logOf(directory).map(({ source }) => source),
        ['import'],
      )
    }
  })

  test('D33, D34: concurrent writers keep seq without gaps and provenance.jsonl in order', async (t) => {
    const directory = directoryFor(t)
    const writer = await openWriter(t, directory)
    for (const child of children) child.tell({ do: 'open', request: openRequest(directory) })
    for (const child of children) await child.answer()
    for (const [index, child] of children.entries())
      child.tell({ do: 'write', prefix: `p${index} `, count: 60 })
    await Promise.all(Array.from({ length: 60 }, (_, number) => write(writer, `own ${number}`)))
    for (const child of children) await child.answer()
    for (const child of children) child.tell({ do: 'close' })
    for (const child of children) await child.answer()
    await write(writer, 'last')
    const log = logOf(directory)
    assert.deepEqual(
      log.map(({ seq }) => seq),
      Array.from({ length: 60 + 2 * 2 * 60 + 1 }, (_, index) => index + 1),
    )
    assert.deepEqual(
      log.map((line) => JSON.stringify(line)),
      storedLines(directory),
    )
  })

  test('D17, D34: acknowledged writes survive SIGKILL completely, and the log is repaired at the next open', async (t) => {
    const directory = directoryFor(t)
    const random = seededRandom(7)
    for (let round = 0; round < 3; round += 1) {
      const doomed = [new Child(), new Child()]
      t.after(() => Promise.all(doomed.map((child) => child.kill())))
      for (const child of doomed) child.tell({ do: 'open', request: openRequest(directory) })
      for (const child of doomed) await child.answer()
      for (const [index, child] of doomed.entries())
        child.tell({ do: 'write', prefix: `${round}.${index}.`, count: 100_000 })
      const goal = 5 + random.below(60)
      for (const child of doomed) await child.until(() => child.stored >= goal)
      await Promise.all(doomed.map((child) => child.kill()))
      const writer = new Writer()
      await writer.handle('open', openRequest(directory))
      await writer.handle('close', null)
      const ids = idsOf(directory)
      for (const [index, child] of doomed.entries()) {
        for (let number = 0; number < child.stored; number += 1)
          assert.ok(ids.has(`${round}.${index}.${number}`), 'acknowledged, but lost')
      }
      for (const id of ids) assert.ok(ids.has(id.endsWith("'") ? id.slice(0, -1) : `${id}'`), 'half a batch')
      assert.deepEqual(
        logOf(directory).map((line) => JSON.stringify(line)),
        storedLines(directory),
      )
      assert.deepEqual(
        logOf(directory).map(({ seq }) => seq),
        Array.from({ length: ids.size }, (_, index) => index + 1),
      )
    }
  })

  test('D31: the run lock is free after SIGKILL of its holder', async (t) => {
    const directory = directoryFor(t)
    const holder = new Child()
    t.after(() => holder.kill())
    holder.tell({ do: 'lock', directory })
    await holder.answer()
    const { lock } = storePaths(directory)
    await assert.rejects(takeRunLock(lock, 0), LockTimeoutError)
    const waiting = takeRunLock(lock, 10_000)
    await holder.kill()
    ;(await waiting).release()
  })

  test('D31: a store that another process keeps locked is a LockTimeoutError, and delays nothing else', async (t) => {
    const directory = directoryFor(t)
    const writer = await openWriter(t, directory, 500)
    // The writer may not have finished the work after opening.
    const other = new DatabaseSync(storePaths(directory).database, { timeout: 10_000 })
    t.after(() => other.close())
    other.exec('BEGIN IMMEDIATE')
    let turns = 0
    const counting = setInterval(() => (turns += 1), 1)
    // Both: the second may wait for longer than the first.
    for (const one of await Promise.allSettled([write(writer, 'a'), write(writer, 'b')])) {
      assert.ok(one.status === 'rejected' && one.reason instanceof LockTimeoutError)
    }
    clearInterval(counting)
    assert.ok(turns > 0, 'the event loop stood still')
    other.exec('COMMIT')
    await write(writer, 'c')
    assert.deepEqual([...idsOf(directory)], ['c'])
  })

  test('what several processes have written is moved into the database when none writes any more', async (t) => {
    const directory = directoryFor(t)
    const writers = [await openWriter(t, directory), await openWriter(t, directory)]
    for (const id of ['a', 'b', 'c', 'd']) {
      for (const [index, writer] of writers.entries()) await write(writer, `${id} ${index}`)
    }
    // Without its write-ahead log, which SQLite does not read here.
    const moved = new URL(`${pathToFileURL(storePaths(directory).database).href}?immutable=1`)
    for (let records = 0; records < 8; await nextTurn()) {
      const db = new DatabaseSync(moved, { readOnly: true })
      records = Number(db.prepare('SELECT count(*) AS n FROM "$data"').get()?.['n'])
      db.close()
    }
  })

  test('a write waits for the lock of another process and continues when it is free', async (t) => {
    const directory = directoryFor(t)
    const writer = await openWriter(t, directory)
    const other = new DatabaseSync(storePaths(directory).database)
    t.after(() => other.close())
    other.exec('BEGIN IMMEDIATE')
    const waiting = write(writer, 'a')
    other.exec('COMMIT')
    await waiting
  })
})

function storedLines(directory: string): string[] {
  return rows(directory, 'SELECT line AS value FROM "$provenance" ORDER BY seq').map((line) =>
    wholeLine(line),
  )
}

function idsOf(directory: string): Set<string> {
  return new Set(rows(directory, 'SELECT id AS value FROM "$data"'))
}

function rows(directory: string, sql: string): string[] {
  const db = new DatabaseSync(storePaths(directory).database, { readOnly: true })
  try {
    return db
      .prepare(sql)
      .all()
      .map((row) => String(row['value']))
  } finally {
    db.close()
  }
}
