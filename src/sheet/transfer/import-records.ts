import { basename } from 'node:path'
import type { Contract } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { inputFormatOf, type FileFormat } from '../../files/io/file-format.ts'
import { ColumnReadings } from '../../files/inference/column-readings.ts'
import type { AskedKey } from '../../files/inference/infer-key.ts'
import { placeOf, type FileSource, type RawRecord, type RawRecords } from '../../files/io/raw-records.ts'
import type { ReadFileOptions } from '../../files/io/read-options.ts'
import { readRecordFile } from '../../files/read-record-file.ts'
import { spool } from '../../files/io/spool.ts'
import { typeCells } from '../../files/inference/type-cells.ts'
import type { RunId } from '../../store/stored-run.ts'
import type { SheetStore, Upsert } from '../../store/sheet-store.ts'
import { targetDefinitions } from '../definition/definition-files.ts'
import { runImport } from '../runs/coordination/import-run.ts'
import { CheckedBatches, upsertBody, type CheckedBatch } from './checked-batches.ts'
import { withMessage, withPlaces } from './error-places.ts'
import { GuessReporter } from './guess-reporter.ts'
import { checkHeader, withFields, type ColumnMap } from './import-columns.ts'
import { ImportPreview, type PreviewedRecord } from './import-preview.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import { NO_PROGRESS, type ActiveRun } from '../active-run.ts'
import type { Sheet } from '../sheet.ts'

export { inputFormatOf, spool, type FileSource }

export interface ImportOptions {
  readonly format: FileFormat
  /** The actor of the import; null for the sheet's default actor. */
  readonly actor: GivenActor
  /** Whether only the result of an import is predicted. */
  readonly dryRun: boolean
  /** Whether the whole file is validated before anything is written. */
  readonly check: boolean
  /** Whether an empty cell of the file keeps the present value; otherwise it clears it. */
  readonly keepEmpty: boolean
  /** Options for reading the file; those that are absent are detected. */
  readonly read: ReadFileOptions
  /**
   * The column that has the ids; null for the one that becomes `id` by its name; false numbers the records, for sheets
   * whose ids are such numbers.
   */
  readonly key: AskedKey
  /** See {@link ColumnMap}. */
  readonly columns: ColumnMap
  /** Receives each guess about the file, once, before anything is written. */
  readonly onGuess: (guess: string) => void
  /**
   * Called before anything is written when there are guesses; false stops the import. Null continues without asking.
   */
  readonly confirm: (() => Promise<boolean>) | null
  /** Called after each batch. */
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
  columns: new Map(),
  onGuess: () => undefined,
  confirm: null,
  onProgress: () => undefined,
  signal: null,
}

export interface ImportProgress {
  readonly phase: 'check' | 'write'
  readonly records: number
  /** The fraction of the file that was processed, from 0 to 1, approximately. */
  readonly share: number
}

/** An error of one field of one record of the file. */
export interface ImportFault {
  /** The file and line, such as `data.csv:12`. */
  readonly place: string
  /** The id of the record; null when it has none. */
  readonly id: string | null
  readonly field: string
  readonly message: string
}

export interface ImportResult {
  /** The number of records that were processed. */
  readonly records: number
  readonly inserted: number
  /** Records that existed and changed. */
  readonly updated: number
  readonly unchanged: number
  /** The errors, at most a hundred; nothing was written when there are any. */
  readonly faults: readonly ImportFault[]
  readonly faultCount: number
  /** Whether the counts are of written records; false for predicted ones. */
  readonly written: boolean
  /** The first records that would be created or changed; empty unless it is a dry run. */
  readonly preview: readonly PreviewedRecord[]
  /** The run that wrote the records, which can be reverted; null where nothing was written. */
  readonly run: RunId | null
}

const LISTED_FAULTS = 100

/**
 * Inserts or merges the records of a file, in batches, each of which is durable before the next begins. First validates
 * the whole file: when there are errors, nothing is written, and the result lists them. What is written is a run, which can be
 * reverted. Errors that only occur during
 * writing (two records of the file with one value of a unique field; concurrent writes) stop the import and are thrown
 * with the progress so far. Throws ValidationError with file and line for a file that cannot be read.
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
  const raw = withFields(read, { contract, key: options.key, columns: options.columns })
  const derived = new Set(targetDefinitions(derivations).map(({ field }) => field))
  const readings = new ColumnReadings({
    file: raw,
    fieldOf: (column) => contract.fieldByName.get(column),
    dateOrder: options.read.dateOrder ?? null,
    lenient: true,
  })
  const guesses = new GuessReporter(() => [...(raw.guesses?.() ?? []), ...readings.notes()], options.onGuess)
  guesses.report()
  checkHeader(raw, contract)
  const file: ImportFile = {
    raw,
    contract,
    store,
    actor,
    options,
    readings,
    toRecord: recordMaker(raw, { contract, derived, options, readings }),
  }
  const checked = options.check && !options.dryRun ? new CheckedBatches() : null
  try {
    const trial = options.dryRun || options.check ? await tryFile(file, checked) : null
    if (trial !== null) {
      guesses.report()
      if (options.dryRun || trial.faultCount > 0) return trial
    }
    if (guesses.count > 0 && options.confirm !== null && !(await options.confirm()))
      throw new ImportDeclined()
    if (trial !== null && trial.unchanged === trial.records) return { ...trial, written: true }
    const order = { sheet, store, actor, file: basename(source.name), total: trial?.records ?? 0 }
    const { id, result } = await runImport(order, (run) => writeFile(file, run, checked))
    guesses.report()
    return { ...result, run: id }
  } finally {
    await checked?.remove()
  }
}

/** The import was declined because of its guesses; nothing was written. */
export class ImportDeclined extends Error {}

interface ImportFile {
  readonly raw: RawRecords
  readonly contract: Contract
  readonly store: SheetStore
  readonly actor: string
  readonly options: ImportOptions
  readonly readings: ColumnReadings
  readonly toRecord: (record: RawRecord) => JsonObject
}

interface RecordContext {
  readonly contract: Contract
  readonly derived: ReadonlySet<string>
  readonly options: ImportOptions
  readonly readings: ColumnReadings
}

/**
 * Returns a function that converts a record of the file for writing: an empty cell clears an ordinary field, and leaves
 * a derived one as it is.
 */
function recordMaker(
  { fields, cells }: RawRecords,
  { contract, derived, options, readings }: RecordContext,
): (record: RawRecord) => JsonObject {
  const cleared = options.keepEmpty ? [] : (fields ?? []).filter((name) => !derived.has(name))
  return ({ values, unknown = [] }) => {
    const typed = typeCells(contract, values, { cells, readings })
    // Objects of one shape are made and serialized in half the time.
    const isOdd = Object.hasOwn(typed, '__proto__') || cleared.includes('__proto__')
    const record = (isOdd ? Object.create(null) : {}) as Record<string, JsonValue>
    for (const name of cleared) if (!unknown.includes(name)) record[name] = null
    for (const name of Object.keys(typed)) {
      const value = typed[name] ?? null
      if (value === null && (derived.has(name) || options.keepEmpty)) continue
      record[name] = value
    }
    return record
  }
}

/** Validates the file without writing; `checked` receives its batches. */
async function tryFile(file: ImportFile, checked: CheckedBatches | null): Promise<ImportResult> {
  const { raw, store, contract, options } = file
  const preview = options.dryRun ? new ImportPreview(contract, store) : null
  const faults: ImportFault[] = []
  const counts = { inserted: 0, updated: 0, unchanged: 0 }
  let faultCount = 0
  const work = { phase: 'check', signal: options.signal, share: () => raw.progress() } as const
  const records = await eachBatch(file, readBatches(file), work, async ({ body, places, values }) => {
    const batch = await places()
    await preview?.add(values ?? [], (index) => placeOf(raw, batch[index] ?? { at: 0 }))
    await checked?.add(body, batch)
    const trial = await store.tryUpsert(upsertOf(file, body))
    counts.inserted += trial.inserted
    counts.updated += trial.updated - trial.unchanged
    counts.unchanged += trial.unchanged
    faultCount += trial.violations.count
    for (const { index, id, field, message } of trial.violations.listed) {
      if (faults.length === LISTED_FAULTS) break
      faults.push({ place: placeOf(raw, batch[index] ?? { at: 0 }), id, field, message })
    }
  })
  return {
    records,
    ...counts,
    faults,
    faultCount,
    written: false,
    preview: preview?.records ?? [],
    run: null,
  }
}

/** Writes the batches that were checked, or when there are none, those of the file. */
async function writeFile(
  file: ImportFile,
  run: ActiveRun,
  checked: CheckedBatches | null,
): Promise<ImportResult> {
  const { raw, store, options } = file
  const { total } = run.feed.progress
  const signal = options.signal === null ? run.signal : AbortSignal.any([run.signal, options.signal])
  const counts = { inserted: 0, updated: 0, unchanged: 0 }
  let done = 0
  let last: RecordBatch | undefined
  const isChecked = checked?.isComplete === true
  const work = {
    phase: 'write',
    signal,
    share: (records: number) => (isChecked ? records / total : raw.progress()),
  } as const
  const batches = isChecked ? checked.all() : readBatches(file)
  try {
    const records = await eachBatch(file, batches, work, async (batch) => {
      const upsert = { ...upsertOf(file, batch.body), run: run.id, file: basename(raw.source.name) }
      const result = await store.upsert(upsert).catch(async (error: unknown) => {
        throw withPlaces(error, await batch.places(), raw)
      })
      counts.inserted += result.inserted
      counts.updated += result.updated - result.unchanged
      counts.unchanged += result.unchanged
      done += batch.count
      last = batch
      const { inserted, updated, unchanged } = counts
      run.feed.onProgress({
        ...NO_PROGRESS,
        total: Math.max(total, done),
        done,
        materialized: inserted + updated,
        skipped: unchanged,
      })
    })
    return { records, ...counts, faults: [], faultCount: 0, written: true, preview: [], run: run.id }
  } catch (error) {
    const place = (await last?.places())?.at(-1)
    if (done === 0 || place === undefined) throw error
    const until = `the ${done} records up to ${placeOf(raw, place)} are stored, and none after them`
    throw withMessage(error, (message) => `${message}; ${until}; import the file again to continue`)
  }
}

/** Records of the file for one upsert. */
interface RecordBatch extends CheckedBatch {
  /** The records, when they were read from the imported file. */
  readonly values?: readonly JsonObject[]
}

function upsertOf({ actor }: ImportFile, body: Uint8Array): Upsert {
  return { body, defaultActor: null, actor, ifMatch: null }
}

/** Reads the batches of the file. */
async function* readBatches({ raw, readings, toRecord }: ImportFile): AsyncGenerator<RecordBatch> {
  readings.begin()
  for await (const batch of raw.batches) {
    await readings.settle(batch)
    const values = batch.map(toRecord)
    yield { body: upsertBody(values), count: batch.length, values, places: () => Promise.resolve(batch) }
  }
}

interface BatchWork extends Pick<ImportProgress, 'phase'>, Pick<ImportOptions, 'signal'> {
  /** Returns {@link ImportProgress.share} after so many records. */
  share(records: number): number
}

/** Passes batches to `work`, one at a time, and prepares the next one meanwhile; returns the number of records. */
async function eachBatch(
  { options }: ImportFile,
  batches: AsyncIterable<RecordBatch>,
  { phase, signal, share }: BatchWork,
  work: (batch: RecordBatch) => Promise<void>,
): Promise<number> {
  let records = 0
  let under: Promise<void> = Promise.resolve()
  try {
    for await (const batch of batches) {
      signal?.throwIfAborted()
      await under
      under = work(batch)
      // It is awaited with the next batch; until then its rejection counts as handled.
      under.catch(() => undefined)
      records += batch.count
      options.onProgress({ phase, records, share: share(records) })
    }
  } finally {
    await under
  }
  return records
}
