import { readSync, writeSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { toPlainError } from '../../../errors/service-error.ts'
import type { PagePlace } from '../../sheet-store.ts'
import { asRecordsError } from '../database/connection.ts'
import { FormulaRunner } from './formula-table.ts'
import { QueryRunner } from './query-run.ts'
import { memoryUse } from '../watchdog/memory-use.ts'
import { runPage } from './run-page.ts'
import { runPosition } from './run-position.ts'
import { runQuery } from './run-query.ts'
import { runFailureGroups } from './run-failure-groups.ts'
import { runSummary } from './run-summary.ts'
import { ResultWriter } from './sql-result.ts'
import { SqlDatabase } from './sql-database.ts'
import { toQueryError } from './sql-errors.ts'
import {
  encodeFrame,
  FRAME,
  FRAME_HEADER_BYTES,
  type ChildOptions,
  type EndFrame,
  type ErrorFrame,
  type SqlRequest,
} from './sql-protocol.ts'
import { startWatchdog } from '../watchdog/start-watchdog.ts'

/**
 * A query process: runs SQL from users for the server, one request at a time, and may be killed at any moment. It reads
 * requests from its standard input and writes responses to its standard output, both synchronously; it ends when the input
 * does.
 */

const INPUT = 0
const OUTPUT = 1

const { path, maxRows, maxMemoryBytes, parentPid } = JSON.parse(process.argv[2] ?? '') as ChildOptions

// A signal to the whole process group is for the server, which ends its query processes itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)

const watchdog = startWatchdog({ parentPid, maxMemoryBytes })
// After the start of the watchdog's thread, which must keep its priority.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
let opened: SqlDatabase | null = null
let formulas: FormulaRunner | null = null
let queries: QueryRunner | null = null
try {
  if (path !== null) database()
} catch {
  // Reported to the first request.
}
send(FRAME.ready, Buffer.alloc(0))
for (let request = receive(); request !== null; request = receive()) respond(request)
process.exit(0)

/** Returns the database, opened at the first request, which then fails for a damaged file. */
function database(): SqlDatabase {
  if (path === null) throw new Error('this process has no database')
  return (opened ??= new SqlDatabase(path))
}

function respond(request: SqlRequest): void {
  watchdog.during(() => {
    try {
      const next = run(request)
      sendJson(FRAME.end, { next, spent: isSpent() } satisfies EndFrame)
    } catch (error) {
      const known = asRecordsError(toQueryError(error))
      const plain = toPlainError(known) ?? { type: null, message: description(known) }
      sendJson(FRAME.error, { error: plain, spent: isSpent() } satisfies ErrorFrame)
    }
  })
}

function run(request: SqlRequest): PagePlace | null {
  const text = new ResultWriter((chunk) => send(FRAME.chunk, chunk))
  const next = write(request, text)
  text.finish()
  return next
}

function write(request: SqlRequest, text: ResultWriter): PagePlace | null {
  switch (request.kind) {
    case 'page':
      return runPage(database(), request, text)
    case 'position':
      text.text(JSON.stringify(runPosition(database(), request)))
      return null
    case 'summary':
      runSummary(database(), request, text)
      return null
    case 'failures':
      runFailureGroups(database(), request, text)
      return null
    case 'query':
      runQuery(database(), { ...request, maxRows }, text)
      return null
    case 'formula':
      formulas ??= new FormulaRunner()
      formulas.run(request, text)
      return null
    case 'records-query':
      if (path === null) throw new Error('this process has no database')
      queries ??= new QueryRunner(path)
      queries.run(request, text)
      return null
  }
}

/** Whether the process should be replaced: it hardly ever releases memory, which the next query should not pay for. */
function isSpent(): boolean {
  return memoryUse() > maxMemoryBytes / 2
}

function description(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function sendJson(kind: number, value: unknown): void {
  send(kind, Buffer.from(JSON.stringify(value)))
}

function send(kind: number, payload: Uint8Array): void {
  const frame = encodeFrame(kind, payload)
  for (let sent = 0; sent < frame.length;) sent += writeSync(OUTPUT, frame, sent)
}

/** Reads the next request; null at the end of the input. */
function receive(): SqlRequest | null {
  const header = read(FRAME_HEADER_BYTES)
  const payload = header === null ? null : read(header.readUInt32LE(1))
  return payload === null ? null : (JSON.parse(payload.toString()) as SqlRequest)
}

function read(length: number): Buffer | null {
  const bytes = Buffer.alloc(length)
  for (let filled = 0; filled < length;) {
    const count = readSync(INPUT, bytes, filled, length - filled, null)
    if (count === 0) return null
    filled += count
  }
  return bytes
}
