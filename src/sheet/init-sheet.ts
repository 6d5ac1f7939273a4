import { readFile, stat, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { Contract } from '../contract/contract.ts'
import type { JsonObject } from '../contract/json.ts'
import { checkFileSize } from '../contract/yaml-limits.ts'
import { ContractError, RecordsError, SheetError } from '../errors/service-error.ts'
import { adoptContract, type Adoption } from '../files/adopt-contract.ts'
import { fieldNames } from '../files/field-names.ts'
import type { FileFormat } from '../files/file-format.ts'
import { inferContract, type InferredField } from '../files/infer-contract.ts'
import type { AskedKey } from '../files/infer-key.ts'
import { profileRecords } from '../files/infer-profile.ts'
import { planRecords, type RecordPlan } from '../files/infer-records.ts'
import type { FileSource, RawRecord, RawRecords } from '../files/raw-records.ts'
import { readRecordFile } from '../files/read-record-file.ts'
import { checkFree, stageSheet } from './init-staging.ts'
import { writeGitignore, writeStarter, type SheetNames } from './new-sheet-files.ts'
import { openSheet } from './open-sheet.ts'
import { unpackArchive } from './unpack-archive.ts'
import { writeLines } from './write-lines.ts'

/** A file of records that a sheet starts from. */
export interface DataFile {
  readonly file: FileSource
  readonly format: FileFormat
}

/** What a sheet is made from. */
export type InitSource =
  /** Nothing: a contract to be edited, and no records. */
  | { readonly kind: 'nothing' }
  /** A file of records, which a contract is inferred from; `key` is the column that becomes `id`. */
  | { readonly kind: 'records'; readonly data: DataFile; readonly key: AskedKey }
  /** Somebody's contract, with or without records. */
  | {
      readonly kind: 'contract'
      readonly contract: FileSource
      /** Which of its schema entries, when it has several. */
      readonly schema: string | null
      readonly data: DataFile | null
      readonly key: string | null
    }
  /** A whole sheet, as exportArchive writes it. */
  | { readonly kind: 'archive'; readonly file: FileSource; readonly maxBytes: number }

export interface InitOptions {
  /** Who imports the records, for the provenance; null for the program. */
  readonly actor: string | null
  /** Aborted to give it up. */
  readonly signal?: AbortSignal
  /** Told now and then how far it is: what it does, and from 0 to 1 how much of that is done. */
  onProgress?(step: InitStep, done: number): void
}

export type InitStep = 'reading' | 'writing' | 'opening'

/** What was made. */
export interface InitReport {
  /** How many records the sheet has. */
  readonly records: number
  /** The contract's fields, as far as they come from a file of records or a contract; null for those of an archive. */
  readonly fields: readonly InferredField[] | null
  /** What was changed or left out, and what somebody should look at; each a sentence without a full stop. */
  readonly notes: readonly string[]
}

/**
 * Makes a sheet in a directory that has none of its files, all of it or nothing, and opens it once, so that it is known to
 * open. Nothing is overwritten. Throws SheetError where a file is in the way; ValidationError, ContractError or
 * RecordsError for what keeps the source from becoming a sheet.
 */
export async function initSheet(
  path: string,
  source: InitSource,
  options: InitOptions = { actor: null },
): Promise<InitReport> {
  checkFree(path)
  const names = namesOf(path)
  return stageSheet(path, async (staging) => {
    const made = await make(staging, source, { names, options })
    options.onProgress?.('opening', 0)
    const records = await countRecords(staging, options.actor)
    options.signal?.throwIfAborted()
    return { ...made, records }
  })
}

type Made = Omit<InitReport, 'records'>

interface Making {
  readonly names: SheetNames
  readonly options: InitOptions
}

async function make(staging: string, source: InitSource, making: Making): Promise<Made> {
  if (source.kind === 'archive') {
    const notes = await unpackArchive(source.file, staging, {
      maxBytes: source.maxBytes,
      signal: making.options.signal ?? null,
    })
    await writeGitignore(staging)
    return { fields: null, notes }
  }
  await writeGitignore(staging)
  switch (source.kind) {
    case 'nothing':
      await writeStarter(staging, making.names)
      return { fields: null, notes: [] }
    case 'records':
      return makeFromRecords(staging, source, making)
    case 'contract':
      return makeFromContract(staging, source, making)
  }
}

async function makeFromRecords(
  staging: string,
  { data, key }: Extract<InitSource, { kind: 'records' }>,
  { names, options }: Making,
): Promise<Made> {
  const file = followed(await readRecordFile(data.file, data.format), 'reading', options)
  const { contract, fields } = inferContract(await profileRecords(file, key === false ? null : key), {
    ...names,
    key,
  })
  const columns = fields.flatMap(({ field, column }) => (column === null ? [] : [[column, field] as const]))
  await writeContract(staging, contract)
  await writeRecords(staging, followed(file, 'writing', options), {
    contract,
    fieldOf: new Map(columns),
    textFields: new Set(fields.filter(({ type }) => type === 'string').map(({ field }) => field)),
    makeId: fields.some(({ column }) => column === null) ? (_values, number) => String(number) : null,
  })
  return { fields, notes: [] }
}

async function makeFromContract(
  staging: string,
  { contract, schema, data, key }: Extract<InitSource, { kind: 'contract' }>,
  { options }: Making,
): Promise<Made> {
  const text = await readContractFile(contract)
  const adoption = adoptContract({ text, name: contract.name }, { schema, key })
  await writeContract(staging, adoption.contract)
  if (data !== null) {
    const file = await readRecordFile(data.file, data.format)
    await writeRecords(staging, followed(file, 'writing', options), planFor(adoption))
  }
  return { fields: adoption.fields, notes: adoption.notes }
}

async function readContractFile({ path, name }: FileSource): Promise<string> {
  try {
    checkFileSize((await stat(path)).size, name)
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
  } catch (error) {
    if (error instanceof TypeError) throw new ContractError(`${name} is not valid UTF-8; save it as UTF-8`)
    if (error instanceof Error && 'syscall' in error) throw new SheetError(`${name} cannot be read`)
    throw error
  }
}

function planFor({ contract, fieldOf, makeId }: Adoption): RecordPlan {
  return { contract, fieldOf, textFields: new Set(['id']), makeId }
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

/** The records of a file, with a word about how far it is after each batch. */
function followed(file: RawRecords, step: InitStep, { signal, onProgress }: InitOptions): RawRecords {
  async function* batches(): AsyncGenerator<readonly RawRecord[]> {
    for await (const batch of file.batches) {
      signal?.throwIfAborted()
      onProgress?.(step, file.progress())
      yield batch
    }
  }
  const { source, fields, cells, unit } = file
  return {
    source,
    fields,
    cells,
    unit,
    batches: { [Symbol.asyncIterator]: batches },
    progress: () => file.progress(),
  }
}

/** Opens the sheet as anybody would, and counts. */
async function countRecords(staging: string, actor: string | null): Promise<number> {
  const sheet = await openSheet(staging, { defaultActor: actor })
  try {
    const { store } = await sheet.deriving()
    sheet.policies()
    return (await store.status()).total
  } catch (error) {
    if (!(error instanceof RecordsError)) throw error
    // The file is the one that was just written, a line for each record.
    throw new RecordsError(error.message.replace(/^records\.jsonl:(\d+)/, 'record $1'))
  } finally {
    await sheet.close()
  }
}

function namesOf(path: string): SheetNames {
  const id = basename(resolve(path)) || 'sheet'
  const [entry = 'records'] = fieldNames([id])
  return { id, entry }
}
