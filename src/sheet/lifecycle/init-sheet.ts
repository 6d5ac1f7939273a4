import { readFile, stat, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { Contract, LogicalType } from '../../contract/contract.ts'
import { idSourceOf } from '../../contract/odcs/id-source.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { checkFileSize } from '../../contract/yaml/yaml-limits.ts'
import { ContractError, RecordsError, SheetError } from '../../errors/service-error.ts'
import { adoptContract } from '../../files/adoption/adopt-contract.ts'
import { ColumnReadings, knownReadings } from '../../files/inference/column-readings.ts'
import type { DateOrder } from '../../contract/values/foreign-moment.ts'
import { fieldNames } from '../../files/inference/field-names.ts'
import type { FileFormat } from '../../files/io/file-format.ts'
import { inferContract, type InferredField } from '../../files/inference/infer-contract.ts'
import type { AskedKey } from '../../files/inference/infer-key.ts'
import { profileRecords } from '../../files/inference/infer-profile.ts'
import { planRecords, type RecordPlan } from '../../files/inference/plan-records.ts'
import { idMaker, withMadeIds } from '../../files/inference/generated-ids.ts'
import { ColumnMatcher, type MatchOptions } from '../../files/columns/match-columns.ts'
import { wrapped } from '../../files/io/null-texts.ts'
import type { FileSource, RawRecord, RawRecords } from '../../files/io/raw-records.ts'
import type { ReadFileOptions } from '../../files/io/read-options.ts'
import { readRecordFile } from '../../files/read-record-file.ts'
import { columnsAsFields, renameColumns } from '../../files/columns/rename-columns.ts'
import { checkFree, stageSheet } from './init-staging.ts'
import { writeGitignore, writeStarter, type SheetNames } from './new-sheet-files.ts'
import { openSheet } from '../open-sheet.ts'
import { unpackArchive } from '../transfer/unpack-archive.ts'
import { writeLines } from '../../files/io/write-lines.ts'

/** A file of records that a sheet starts from. */
export interface DataFile {
  readonly file: FileSource
  readonly format: FileFormat
  /** Options for reading the file; those that are absent are detected. */
  readonly read?: ReadFileOptions
}

/** The source of a new sheet. */
export type InitSource =
  /** A contract to be edited, and no records. */
  | { readonly kind: 'nothing' }
  /** A file of records, from which a contract is inferred; `key` is the column that becomes `id`. */
  | {
      readonly kind: 'records'
      readonly data: DataFile
      readonly key: AskedKey
      /** Types of columns, which override the inferred ones. */
      readonly types?: ReadonlyMap<string, LogicalType>
    }
  /** An existing contract, with or without records. */
  | {
      readonly kind: 'contract'
      readonly contract: FileSource
      /** The schema entry to use, when it has several. */
      readonly schema: string | null
      readonly data: DataFile | null
      readonly key: string | null
    }
  /** A whole sheet, as `exportArchive` writes it. */
  | { readonly kind: 'archive'; readonly file: FileSource; readonly maxBytes: number }

export interface InitOptions {
  /** The actor of the import in the provenance; null for the program. */
  readonly actor: string | null
  /** Called before anything is written, with what is known of the sheet; false cancels. */
  confirm?(preview: InitPreview): Promise<boolean>
  /** Cancels when aborted. */
  readonly signal?: AbortSignal
  /** Reports progress: the step, and the fraction of it that is done, from 0 to 1. */
  onProgress?(step: InitStep, done: number): void
}

export type InitStep = 'reading' | 'writing' | 'opening'

/** A preview of a sheet before its records are written. */
export interface InitPreview {
  /** The contract's fields; null for an archive. */
  readonly fields: readonly InferredField[] | null
  /** Notes on what was guessed, changed or left out, each a sentence without a full stop. */
  readonly notes: readonly string[]
}

/** The result of creating a sheet. */
export interface InitReport extends InitPreview {
  /** The number of records of the sheet. */
  readonly records: number
}

/** The user declined the sheet; nothing was created. */
export class InitDeclined extends Error {}

/**
 * Creates a sheet in a directory that has none of its files, whole or not at all, and opens it once as a check.
 * Overwrites nothing. Throws SheetError when a file is in the way; ValidationError, ContractError or RecordsError when
 * the source cannot become a sheet.
 */
export async function initSheet(
  path: string,
  source: InitSource,
  options: InitOptions = { actor: null },
): Promise<InitReport> {
  checkFree(path)
  const fill = await prepare(source, { names: namesOf(path), options })
  return stageSheet(path, async (staging) => {
    await writeGitignore(staging)
    const made = await fill(staging)
    options.onProgress?.('opening', 0)
    const records = await countRecords(staging, options.actor)
    options.signal?.throwIfAborted()
    return { ...made, records }
  })
}

interface Making {
  readonly names: SheetNames
  readonly options: InitOptions
}

/** Writes the files of a sheet into a directory. */
type Fill = (staging: string) => Promise<InitPreview>

/** Reads the source and asks for confirmation. Writes nothing before the returned function is called. */
async function prepare(source: InitSource, making: Making): Promise<Fill> {
  switch (source.kind) {
    case 'archive':
      return async (staging) => {
        const { signal = null } = making.options
        const { notes } = await unpackArchive(source.file, staging, { maxBytes: source.maxBytes, signal })
        return { fields: null, notes }
      }
    case 'nothing':
      return async (staging) => {
        await writeStarter(staging, making.names)
        return { fields: null, notes: [] }
      }
    case 'records':
      return prepareRecords(source, making)
    case 'contract':
      return prepareContract(source, making)
  }
}

async function prepareRecords(
  { data, key, types = new Map() }: Extract<InitSource, { kind: 'records' }>,
  { names, options }: Making,
): Promise<Fill> {
  const file = await readRecordFile(data.file, data.format, data.read)
  const profile = await profileRecords(withProgress(file, 'reading', options), key === false ? null : key)
  const dateOrder = data.read?.dateOrder ?? null
  const { contract, fields, readings } = inferContract(profile, { ...names, key, types, dateOrder })
  const preview = { fields, notes: file.guesses?.() ?? [] }
  await checkConfirmed(preview, options)
  const columns = fields.flatMap(({ field, column }) => (column === null ? [] : [[column, field] as const]))
  const plan: RecordPlan = {
    contract,
    readings: knownReadings(readings),
    textFields: new Set(fields.filter(({ type }) => type === 'string').map(({ field }) => field)),
  }
  const named = withIds(renameColumns(file, new Map(columns)), contract)
  return async (staging) => {
    await writeContract(staging, contract)
    await writeRecords(staging, withProgress(named, 'writing', options), plan)
    return preview
  }
}

async function prepareContract(
  { contract, schema, data, key }: Extract<InitSource, { kind: 'contract' }>,
  { options }: Making,
): Promise<Fill> {
  const text = await readContractFile(contract)
  const adoption = adoptContract({ text, name: contract.name }, { schema, key })
  const file = data === null ? null : await readRecordFile(data.file, data.format, data.read)
  const preview = (): InitPreview => ({
    fields: adoption.fields,
    notes: [...adoption.notes, ...(file?.guesses?.() ?? [])],
  })
  await checkConfirmed(preview(), options)
  return async (staging) => {
    await writeContract(staging, adoption.contract)
    if (file !== null) {
      const matcher = new ColumnMatcher(adoption.contract, AS_NAMED)
      const named = withIds(columnsAsFields(file, matcher), adoption.contract)
      const plan = planFor(adoption.contract, named, data?.read?.dateOrder ?? null)
      await writeRecords(staging, withProgress(named, 'writing', options), plan)
    }
    return preview()
  }
}

async function checkConfirmed(preview: InitPreview, options: InitOptions): Promise<void> {
  if (options.confirm !== undefined && !(await options.confirm(preview))) throw new InitDeclined()
  options.signal?.throwIfAborted()
}

async function readContractFile({ path, name }: FileSource): Promise<string> {
  try {
    checkFileSize((await stat(path)).size, name)
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
  } catch (error) {
    if (error instanceof TypeError) throw new ContractError(`${name} is not valid UTF-8; save it as UTF-8`)
    if (error instanceof Error && 'syscall' in error)
      throw new SheetError(`${name} cannot be read`, 'unknown_file')
    throw error
  }
}

/** Options that match columns of a file to a given contract by name only. */
const AS_NAMED: MatchOptions = { key: null, withoutId: false, preferOwn: false, idAdvice: null }

/** Returns the records with the ids that the contract generates. */
function withIds(file: RawRecords, contract: Contract): RawRecords {
  const source = idSourceOf(contract)
  return source === null ? file : withMadeIds(file, idMaker(source))
}

function planFor(contract: Contract, file: RawRecords, dateOrder: DateOrder | null): RecordPlan {
  const readings = new ColumnReadings({
    file,
    fieldOf: (field) => contract.fieldByName.get(field),
    dateOrder,
    lenient: false,
  })
  return { contract, textFields: new Set(['id']), readings }
}

async function writeContract(staging: string, { text }: Contract): Promise<void> {
  await writeFile(join(staging, 'contract.yaml'), text, { flag: 'wx' })
}

async function writeRecords(staging: string, file: RawRecords, plan: RecordPlan): Promise<void> {
  await writeLines(join(staging, 'records.jsonl'), linesOf(planRecords(file, plan)))
}

async function* linesOf(batches: AsyncIterable<readonly JsonObject[]>): AsyncGenerator<string> {
  for await (const batch of batches) yield batch.map((record) => `${JSON.stringify(record)}\n`).join('')
}

/** Returns the records of a file and reports progress after each batch. */
function withProgress(file: RawRecords, step: InitStep, { signal, onProgress }: InitOptions): RawRecords {
  async function* batches(): AsyncGenerator<readonly RawRecord[]> {
    for await (const batch of file.batches) {
      signal?.throwIfAborted()
      onProgress?.(step, file.progress())
      yield batch
    }
  }
  return wrapped(file, batches)
}

/** Opens the sheet, which checks it, and counts its records. */
async function countRecords(staging: string, actor: string | null): Promise<number> {
  const sheet = await openSheet(staging, { defaultActor: actor })
  try {
    const { store } = await sheet.deriving()
    sheet.policies()
    return (await store.status()).total
  } catch (error) {
    if (!(error instanceof RecordsError)) throw error
    // The file was just written, with one line for each record.
    const { inFile: place } = error
    const line = place?.line ?? null
    throw line === null
      ? error
      : new RecordsError(`record ${line}: ${place?.message ?? ''}`, 'invalid_records_file')
  } finally {
    await sheet.close()
  }
}

function namesOf(path: string): SheetNames {
  const id = basename(resolve(path)) || 'sheet'
  const [entry = 'records'] = fieldNames([id])
  return { id, entry }
}
