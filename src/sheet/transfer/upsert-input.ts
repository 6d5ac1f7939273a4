import { Readable } from 'node:stream'
import type { Field } from '../../contract/contract.ts'
import { idSourceOf } from '../../contract/odcs/id-source.ts'
import { ColumnReadings } from '../../files/inference/column-readings.ts'
import type { DateOrder } from '../../contract/values/foreign-moment.ts'
import { inputFormatOf, type FileFormat } from '../../files/io/file-format.ts'
import { type RawRecord, type RawRecords } from '../../files/io/raw-records.ts'
import {
  idMaker,
  recordsWithIds,
  withMadeIds,
  withTextId,
  type MakeId,
} from '../../files/inference/generated-ids.ts'
import { ColumnMatcher } from '../../files/columns/match-columns.ts'
import { readRecordFile } from '../../files/read-record-file.ts'
import { columnsAsFields, recordsAsFields } from '../../files/columns/rename-columns.ts'
import { spool } from '../../files/io/spool.ts'
import { typeCells } from '../../files/inference/type-cells.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { withMessage, withPlaces } from './error-places.ts'
import { GuessReporter } from './guess-reporter.ts'
import { ndjsonBatches } from './ndjson-batches.ts'
import type { Sheet } from '../sheet.ts'
import { upsertRecords } from '../writes/upsert-records.ts'

export interface InputOptions {
  /** The format; null detects it from the file name, or from the start of a stream. */
  readonly format: FileFormat | null
  readonly actor: string
  /** Receives guesses about the input: those known before anything is written, and the rest at the end. */
  readonly onGuess?: (guess: string) => void
  /** The order of day and month in ambiguous dates; null infers it from other dates of the column. */
  readonly dateOrder?: DateOrder | null
}

/** The result of upserting a whole input. */
export interface InputResult {
  readonly inserted: number
  readonly updated: number
  /** The number of records in the sheet afterwards. */
  readonly total: number
}

/** The source of records, for messages, and the type of their cells. */
type Origin = Pick<RawRecords, 'source' | 'unit' | 'cells'>

/**
 * Upserts the records of a file in batches. Each batch is written whole or not at all, and batches before a refused one
 * stay, as the error states. Throws ValidationError and PermissionDeniedError with file and line, SheetError when the
 * file does not exist.
 */
export async function upsertFile(sheet: Sheet, path: string, options: InputOptions): Promise<InputResult> {
  const format = options.format ?? inputFormatOf(path)
  if (format === null) {
    throw new ValidationError(
      `the format of ${path} cannot be told from its name; give it with --input-format`,
      'unreadable_file',
    )
  }
  return upsertRecordFile(sheet, await readRecordFile({ path, name: path }, format), options)
}

/**
 * Upserts the records of a stream, called `name` in messages. NDJSON is written as it arrives, other formats once the
 * stream has ended.
 */
export async function upsertStream(
  sheet: Sheet,
  { stream, name }: { readonly stream: Readable; readonly name: string },
  options: InputOptions,
): Promise<InputResult> {
  const { first, whole } = await peek(stream)
  const format = options.format ?? formatOfStart(first)
  if (format === 'ndjson') {
    const origin: Origin = { source: { path: name, name }, unit: 'line', cells: 'values' }
    const { matcher, makeId } = await namingOf(sheet)
    const named = recordsAsFields(ndjsonBatches(whole, name), matcher, origin)
    const batches = makeId === null ? named : recordsWithIds(named, makeId)
    return upsertBatches(sheet, batches, { origin, file: null, ...options })
  }
  const file = await spool(whole, name)
  try {
    return await upsertRecordFile(sheet, await readRecordFile(file, format), options)
  } finally {
    await file.remove()
  }
}

async function upsertRecordFile(sheet: Sheet, read: RawRecords, options: InputOptions): Promise<InputResult> {
  const { matcher, makeId } = await namingOf(sheet)
  const named = columnsAsFields(read, matcher)
  const file = makeId === null ? named : withMadeIds(named, makeId)
  return upsertBatches(sheet, file.batches, { origin: file, file, ...options })
}

interface Naming {
  readonly matcher: ColumnMatcher
  /** Generates ids from other fields; null when the contract does not. */
  readonly makeId: MakeId | null
}

/**
 * Returns the mapping of columns to fields. A column that could be two fields is the one of its name, as in requests.
 */
async function namingOf(sheet: Sheet): Promise<Naming> {
  const { contract } = await sheet.deriving()
  const source = idSourceOf(contract)
  return {
    matcher: new ColumnMatcher(contract, { key: null, withoutId: false, preferOwn: true, idAdvice: null }),
    makeId: source?.kind === 'fields' ? idMaker(source) : null,
  }
}

interface WhatToRead {
  readonly origin: Origin
  /** The file; null for a stream, which can be read only once. */
  readonly file: RawRecords | null
}

async function upsertBatches(
  sheet: Sheet,
  batches: AsyncIterable<readonly RawRecord[]>,
  { origin, file, actor, onGuess, dateOrder = null }: WhatToRead & InputOptions,
): Promise<InputResult> {
  const { contract, store } = await sheet.deriving()
  const fieldOf = (column: string): Field | undefined => contract.fieldByName.get(column)
  const readings = new ColumnReadings({ file, fieldOf, dateOrder, lenient: false })
  const guesses = new GuessReporter(
    () => [...(file?.guesses?.() ?? []), ...readings.notes()],
    (guess) => onGuess?.(guess),
  )
  guesses.report()
  let inserted = 0
  let updated = 0
  let total: number | null = null
  try {
    for await (const batch of batches) {
      await readings.settle(batch)
      const records = batch.map(({ values }) =>
        typeCells(contract, withTextId(values), { cells: origin.cells, readings }),
      )
      // As text, which preserves every digit of a number.
      const body = Buffer.from(JSON.stringify({ records }))
      const result = await upsertRecords(sheet, body, { actor }).catch((error: unknown) => {
        throw withPlaces(error, batch, origin)
      })
      inserted += result.inserted
      updated += result.updated
      total = result.total
    }
  } catch (error) {
    throw withWritten(error, inserted + updated)
  }
  guesses.report()
  return { inserted, updated, total: total ?? (await store.status()).total }
}

/** Adds the number of records that were stored before the error. */
function withWritten(error: unknown, written: number): unknown {
  if (written === 0) return error
  return withMessage(error, (message) => `${message}; ${written} records before these are stored`)
}

/** Returns the start of a stream, and a stream of all of it. */
async function peek(stream: Readable): Promise<{ first: string; whole: Readable }> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const seen: Buffer[] = []
  for (;;) {
    const { done = false, value } = await chunks.next()
    if (done) break
    seen.push(value as Buffer)
    if (/\S/.test(String(value))) break
  }
  async function* whole(): AsyncGenerator<Buffer> {
    yield* seen
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  return { first: Buffer.concat(seen).toString(), whole: Readable.from(whole()) }
}

/** Detects the format from the start of a text: an object on one line is NDJSON, an array JSON, anything else CSV. */
function formatOfStart(start: string): FileFormat {
  const text = start.replace(/^\uFEFF/, '').trimStart()
  if (text.startsWith('[')) return 'json'
  if (text === '') return 'ndjson'
  if (!text.startsWith('{')) return 'csv'
  const [line = ''] = text.split('\n', 1)
  // An object over several lines is one with a member "records".
  return line.trimEnd().endsWith('}') || !text.includes('\n') ? 'ndjson' : 'json'
}
