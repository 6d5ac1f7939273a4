import type { Contract } from '../../contract/contract.ts'
import { idSourceOf } from '../../contract/odcs/id-source.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { originalNames, unknownColumnMessage } from '../../contract/odcs/original-names.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import { ServiceError, ValidationError, fromPlainError, toPlainError } from '../../errors/service-error.ts'
import { inputFormatOf, type FileFormat } from '../../files/io/file-format.ts'
import { ColumnReadings } from '../../files/inference/column-readings.ts'
import type { AskedKey } from '../../files/inference/infer-key.ts'
import { idMaker, withMadeIds } from '../../files/inference/generated-ids.ts'
import { ColumnMatcher } from '../../files/columns/match-columns.ts'
import { placeOf, type FileSource, type RawRecord, type RawRecords } from '../../files/io/raw-records.ts'
import type { ReadFileOptions } from '../../files/io/read-options.ts'
import { readRecordFile } from '../../files/read-record-file.ts'
import { columnsAsFields } from '../../files/columns/rename-columns.ts'
import { spool } from '../../files/io/spool.ts'
import { typeCells } from '../../files/inference/type-cells.ts'
import type { SheetStore, Upsert } from '../../store/sheet-store.ts'
import { targetDefinitions } from '../definition/definition-files.ts'
import { GuessReporter } from './guess-reporter.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { Sheet } from '../sheet.ts'

export { inputFormatOf, spool, type FileSource }

export interface ImportOptions {
  readonly format: FileFormat
  /** Who writes; null for the sheet's default actor. */
  readonly actor: GivenActor
  /** True only says what an import would do. */
  readonly dryRun: boolean
  /** False writes at once, without a pass over the file that finds what is wrong with it. */
  readonly check: boolean
  /** True leaves a value as it is where the file has an empty cell, false clears it. */
  readonly keepEmpty: boolean
  /** How the file is to be read, as far as that is not to be found out. */
  readonly read: ReadFileOptions
  /**
   * The column that has the ids; null for the one that is `id` by its name; false to number the records, where the ids of
   * the sheet are such numbers.
   */
  readonly key: AskedKey
  /** Told what is guessed about the file, each guess once, before anything is written. */
  readonly onGuess: (guess: string) => void
  /** Asked before anything is written when there are guesses; false stops the import. Null goes on. */
  readonly confirm: (() => Promise<boolean>) | null
  /** Told after each batch how far it is. */
  readonly onProgress: (progress: ImportProgress) => void
  /** Stops the import between two batches when aborted. */
  readonly signal: AbortSignal | null
}

const DEFAULTS: Omit<ImportOptions, 'format'> = {
  actor: null,
  dryRun: false,
  check: true,
  keepEmpty: false,
  read: {},
  key: null,
  onGuess: () => undefined,
  confirm: null,
  onProgress: () => undefined,
  signal: null,
}

export interface ImportProgress {
  readonly phase: 'check' | 'write'
  readonly records: number
  /** How much of the file that is, from 0 to 1; about. */
  readonly share: number
}

/** What is wrong with one field of one record of the file. */
export interface ImportFault {
  /** File and line, such as `data.csv:12`. */
  readonly place: string
  /** Null when the record has none. */
  readonly id: string | null
  readonly field: string
  readonly message: string
}

export interface ImportResult {
  /** Records that were gone through. */
  readonly records: number
  readonly inserted: number
  /** Records that existed and changed. */
  readonly updated: number
  readonly unchanged: number
  /** At most a hundred; nothing was written when there are any. */
  readonly faults: readonly ImportFault[]
  readonly faultCount: number
  /** Whether the counts are of what was written, and not of what would be. */
  readonly written: boolean
}

const LISTED_FAULTS = 100

/**
 * Inserts or merges the records of a file, in batches of which each is durable when the next begins. First the whole file is
 * gone through without writing: when that finds faults, nothing is written, and they are in the result. What only shows
 * while writing (two records of the file with one value of a unique field; what others write meanwhile) stops the import
 * and is thrown, with how far it came. Throws ValidationError naming file and place for what is no such file.
 */
export async function importRecords(
  sheet: Sheet,
  source: FileSource,
  given: Pick<ImportOptions, 'format'> & Partial<ImportOptions>,
): Promise<ImportResult> {
  const options: ImportOptions = { ...DEFAULTS, ...given }
  const { contract, store, derivations } = await sheet.deriving()
  const actor = resolveActor(sheet, options.actor)
  const read = await readRecordFile(source, options.format, options.read)
  const raw = withFields(read, { contract, key: options.key })
  const derived = new Set(targetDefinitions(derivations).map(({ field }) => field))
  const readings = new ColumnReadings({
    file: raw,
    fieldOf: (column) => contract.fieldByName.get(column),
    dateOrder: options.read.dateOrder ?? null,
    lenient: true,
  })
  const guesses = new GuessReporter(() => [...(raw.guesses?.() ?? []), ...readings.notes()], options.onGuess)
  guesses.tell()
  checkHeader(raw, contract)
  const file: ImportFile = {
    raw,
    store,
    actor,
    options,
    readings,
    toRecord: recordMaker(raw, { contract, derived, options, readings }),
  }
  if (options.dryRun || options.check) {
    const trial = await tryFile(file)
    guesses.tell()
    if (options.dryRun || trial.faultCount > 0) return trial
  }
  if (guesses.count > 0 && options.confirm !== null && !(await options.confirm())) throw new ImportDeclined()
  const result = await writeFile(file)
  guesses.tell()
  return result
}

/** Whoever was asked does not want what was guessed; nothing was written. */
export class ImportDeclined extends Error {}

interface ColumnsToRead {
  readonly contract: Contract
  readonly key: AskedKey
}

/** The records with columns called as their fields, and with the ids that the contract has made. */
function withFields(file: RawRecords, { contract, key }: ColumnsToRead): RawRecords {
  const source = idSourceOf(contract)
  const numbered = source?.kind === 'rowNumber'
  if (key === false && !numbered) {
    throw new ValidationError(
      'the ids of this sheet are not the numbers of records (its contract has no idFrom: rowNumber); leave out --no-key',
      'key_required',
    )
  }
  if (typeof key === 'string' && file.fields?.includes(key) === false) {
    throw new ValidationError(
      `${file.source.name} has no column ${showValue(key)} for the key; it has ${showNames(file.fields)}`,
      'key_required',
    )
  }
  const matcher = new ColumnMatcher(contract, {
    key: key === false ? null : key,
    withoutId: key === false,
    preferOwn: false,
    idAdvice: `if it has the ids, say so with --key id${numbered ? ', if not, with --no-key' : ''}`,
  })
  const named = columnsAsFields(file, matcher)
  if (source === null || (numbered && key !== false)) return named
  return withMadeIds(named, idMaker(source))
}

interface ImportFile {
  readonly raw: RawRecords
  readonly store: SheetStore
  readonly actor: string
  readonly options: ImportOptions
  readonly readings: ColumnReadings
  readonly toRecord: (record: RawRecord) => JsonObject
}

/** Throws ValidationError for columns that the contract lacks, and for want of ids. */
function checkHeader({ fields, source }: RawRecords, contract: Contract): void {
  if (fields === null) return
  for (const name of fields) {
    if (contract.fieldByName.has(name)) continue
    throw new ValidationError(
      `${source.name}, column ${showValue(name)}: ${unknownColumnMessage(contract, name)}`,
      'unknown_column',
    )
  }
  if (fields.includes('id')) return
  if (idSourceOf(contract)?.kind === 'rowNumber') {
    throw new ValidationError(
      `${source.name} has no column id, and the ids of this sheet are the numbers of the records in the file that it was ` +
        'made of; --no-key numbers these records in the same way, --key names a column that has the ids',
      'key_required',
    )
  }
  const others = (originalNames(contract).get('id') ?? []).map((name) => `, nor ${showValue(name)}`).join('')
  throw new ValidationError(
    `${source.name} has no column id${others === '' ? '' : `${others},`} by which records are told apart; --key names another column for it`,
    'key_required',
  )
}

interface RecordContext {
  readonly contract: Contract
  readonly derived: ReadonlySet<string>
  readonly options: ImportOptions
  readonly readings: ColumnReadings
}

/** What turns a record of the file into what is written: an empty cell clears an ordinary field, and says nothing of a derived one. */
function recordMaker(
  { fields, cells }: RawRecords,
  { contract, derived, options, readings }: RecordContext,
): (record: RawRecord) => JsonObject {
  const cleared = options.keepEmpty ? [] : (fields ?? []).filter((name) => !derived.has(name))
  return ({ values, unknown = [] }) => {
    const typed = typeCells(contract, values, { cells, readings })
    const record: Record<string, JsonValue> = Object.create(null) as Record<string, JsonValue>
    for (const name of cleared) if (!unknown.includes(name)) record[name] = null
    for (const name of Object.keys(typed)) {
      const value = typed[name] ?? null
      if (value === null && (derived.has(name) || options.keepEmpty)) continue
      record[name] = value
    }
    return record
  }
}

/** Goes through the file without writing. */
async function tryFile(file: ImportFile): Promise<ImportResult> {
  const { raw, store } = file
  const faults: ImportFault[] = []
  const counts = { inserted: 0, updated: 0, unchanged: 0 }
  let faultCount = 0
  const records = await eachBatch(file, 'check', async (upsert, batch) => {
    const trial = await store.tryUpsert(upsert)
    counts.inserted += trial.inserted
    counts.updated += trial.updated - trial.unchanged
    counts.unchanged += trial.unchanged
    faultCount += trial.faultCount
    for (const { position, id, field, fault } of trial.faults) {
      if (faults.length === LISTED_FAULTS) break
      faults.push({ place: placeAt(raw, batch, position), id, field, message: fault })
    }
  })
  return { records, ...counts, faults, faultCount, written: false }
}

async function writeFile(file: ImportFile): Promise<ImportResult> {
  const { raw, store } = file
  const counts = { inserted: 0, updated: 0, unchanged: 0 }
  let done = 0
  let last: RawRecord | undefined
  try {
    const records = await eachBatch(file, 'write', async (upsert, batch) => {
      const result = await store.upsert(upsert).catch((error: unknown) => {
        throw withPlaces(error, (position) => placeAt(raw, batch, position))
      })
      counts.inserted += result.inserted
      counts.updated += result.updated - result.unchanged
      counts.unchanged += result.unchanged
      done += batch.length
      last = batch.at(-1)
    })
    return { records, ...counts, faults: [], faultCount: 0, written: true }
  } catch (error) {
    if (done === 0 || last === undefined) throw error
    const until = `the ${done} records up to ${placeOf(raw, last)} are in the sheet, nothing after them`
    throw retold(error, (message) => `${message}; ${until}; to go on, import the file again`)
  }
}

/** Hands the batches to `work`, one at a time, and reads the next one meanwhile; answers with the number of records. */
async function eachBatch(
  { raw, actor, options, readings, toRecord }: ImportFile,
  phase: ImportProgress['phase'],
  work: (upsert: Upsert, batch: readonly RawRecord[]) => Promise<void>,
): Promise<number> {
  let records = 0
  readings.begin()
  let under: Promise<void> = Promise.resolve()
  try {
    for await (const batch of raw.batches) {
      options.signal?.throwIfAborted()
      await readings.settle(batch)
      const body = Buffer.from(JSON.stringify({ records: batch.map(toRecord) }))
      await under
      under = work({ body, defaultActor: null, actor, ifMatch: null }, batch)
      // It is waited for with the next one; until then nobody else would hear that it failed.
      under.catch(() => undefined)
      records += batch.length
      options.onProgress({ phase, records, share: raw.progress() })
    }
  } finally {
    await under
  }
  return records
}

function placeAt(raw: RawRecords, batch: readonly RawRecord[], position: number): string {
  return placeOf(raw, batch[position] ?? { at: 0 })
}

/** An error of the store with places in the file, where it names positions in what was sent. */
function withPlaces(error: unknown, place: (position: number) => string): unknown {
  return retold(error, (message) =>
    message.replaceAll(/(^|; )records\[(\d+)\] \(/g, (_all, before: string, position: string) => {
      return `${before}${place(Number(position))} (`
    }),
  )
}

function retold(error: unknown, tell: (message: string) => string): unknown {
  const plain = error instanceof ServiceError ? toPlainError(error) : undefined
  return plain === undefined ? error : fromPlainError({ ...plain, message: tell(plain.message) })
}
