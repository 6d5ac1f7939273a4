import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ContractError } from '../../errors/service-error.ts'
import { own } from '../../contract/odcs/document-shape.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { checkFileSize } from '../../contract/yaml/yaml-limits.ts'
import { parseExactly } from '../../contract/json/exact-json.ts'
import type { Derivation } from '../../derivation/definition/derivation-kind.ts'
import { DifferenceReport, type Difference } from '../../files/folio/difference-report.ts'
import {
  exportFolioContract,
  folioNames,
  type FolioContractExport,
} from '../../files/folio/export-folio-contract.ts'
import {
  computedLine,
  folioLinesOf,
  humanLine,
  type FolioLine,
  type LogExport,
} from '../../files/folio/export-folio-log.ts'
import { cellKey } from '../../files/folio/adopt-folio-log.ts'
import { folioHashOf, type FolioHash } from '../../files/folio/folio-hash.ts'
import { parseFolioYaml } from '../../files/folio/folio-yaml.ts'
import { pythonJson } from '../../files/folio/python-json.ts'
import { yamlText } from '../../files/inference/contract-text.ts'
import { FieldLineages, presentLine } from '../../store/fields/field-lineage.ts'
import { importedChange, type StoredFieldChange } from '../../store/fields/stored-changes.ts'
import { textLines } from '../../store/sheet-files/import-lines.ts'
import { readSheetFile } from '../../store/sheet-files/sheet-paths.ts'
import { checkFree, stageSheet } from '../lifecycle/init-staging.ts'
import type { Sheet } from '../sheet.ts'
import { copySheet } from '../transfer/copy-sheet.ts'
import { recordsOf } from './adopt-cells.ts'
import { KEPT_ENDING, type NewFile } from './adopt-derivations.ts'
import { SET_ASIDE_FILE } from './convert-folio-sheet.ts'
import { exportDerivations } from './export-derivations.ts'
import { FolioSource, MAX_BYTES, NOT_COPIED } from './folio-source.ts'
import { linePieces } from './line-pieces.ts'

/** Definition files that folio does not have, apart from the contract, which is written anew. */
const DEFINITIONS: readonly string[] = ['contract.yaml', 'transport.yaml', 'models.yaml']

/** Files that the export makes. */
const WRITTEN: readonly string[] = ['contract.yaml', 'records.jsonl', 'provenance.jsonl']

/** The result of exporting a folio sheet. */
export interface FolioExport {
  readonly records: number
  readonly differences: readonly Difference[]
}

/** Files of a sheet that mean nothing in folio. */
const OWN = new RegExp(
  `^(?:sheet\\.db.*(?<!\\${KEPT_ENDING})|${SET_ASIDE_FILE.replace('.', '\\.')}|checkpoints\\.txt|colophon\\.json)$`,
)

/**
 * Writes a sheet as one of folio into a directory that has no sheet, whole or not at all, and returns every difference. `directory` is that of
 * the sheet, whose other files are copied; null for a sheet in PostgreSQL. Throws SheetError when a file is in the way, the reason of the signal once that aborts, and as reading the sheet does.
 */
export async function exportFolioSheet(
  sheet: Sheet,
  path: string,
  directory: string | null,
  signal?: AbortSignal,
): Promise<FolioExport> {
  checkFree(path)
  const copy = await mkdtemp(join(tmpdir(), 'colophon-folio-'))
  try {
    return await stageSheet(path, (staging) =>
      new Exporter(sheet, { staging, copy, directory, target: resolve(path), signal }).run(),
    )
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

interface Places {
  readonly staging: string
  /** A directory with a copy of the store. */
  readonly copy: string
  readonly directory: string | null
  /** The path of the new sheet. */
  readonly target: string
  readonly signal: AbortSignal | undefined
}

/** The number of lines after which signals are noticed. */
const TURN = 4096

class Exporter {
  readonly #sheet: Sheet
  readonly #places: Places
  readonly #report = new DifferenceReport()
  readonly #source: FolioSource | null

  constructor(sheet: Sheet, places: Places) {
    this.#sheet = sheet
    this.#places = places
    this.#source = places.directory === null ? null : new FolioSource(places.directory)
  }

  async run(): Promise<FolioExport> {
    const { snapshot, definitions } = await copySheet(this.#sheet, this.#places.copy)
    const { contract, derivations } = await this.#sheet.deriving()
    const report = this.#report
    const names = folioNames(contract, report)
    const all = derivations.levels.flat()
    const made = exportDerivations({
      derivations: all,
      names,
      has: (file) => definitions.some((definition) => definition.path === file),
      read: (file) => this.#source?.read(file) ?? null,
      report,
    })
    const derived = new Map(
      made.exported.flatMap(({ targets: each, inputs }) => each.map((target) => [target, inputs] as const)),
    )
    const folio = exportFolioContract({ contract, names, derived, report })
    const { others, copied } = this.#others(definitions, new Set(made.files.map((file) => file.path)))
    report.add(
      'kept',
      { file: 'records.jsonl' },
      'members are in the order of the contract, and those without a value are left out',
    )
    const files = new Map<string, Uint8Array>([
      ['contract.yaml', Buffer.from(yamlText(folio.document))],
      ...[...made.files, ...others].map(({ path, bytes }) => [path, bytes] as const),
    ])
    const { records, ids, putBack } = await this.#records(folio)
    await this.#write('records.jsonl', linePieces(records.values(), pythonJson))
    const log = await this.#log({
      read: (file) => files.get(file) ?? this.#source?.read(copied.get(file) ?? '') ?? null,
      records,
      ids,
      putBack,
      names,
      derivations: made.exported,
      key: folio.key,
      foreign: (name) => this.#foreign(name),
    })
    if (log.length > 0) await this.#write('provenance.jsonl', linePieces(log, pythonJson))
    for (const [path, bytes] of files) await this.#write(path, bytes)
    // One at a time: together they may be larger than the memory.
    for (const [to, from] of copied) {
      const bytes = this.#source?.fileToCopy(from) ?? null
      if (bytes === null) report.add('cannot', { file: from }, NOT_COPIED)
      else await this.#write(to, bytes)
    }
    return { records: snapshot.records, differences: report.list() }
  }

  async #write(path: string, content: Uint8Array | string | Iterable<string>): Promise<void> {
    this.#places.signal?.throwIfAborted()
    await mkdir(dirname(join(this.#places.staging, path)), { recursive: true })
    await writeFile(join(this.#places.staging, path), content, { flag: 'wx' })
  }

  /**
   * Returns the files that are neither contract, records, log nor derivations of this version: those of the definition, and the paths of those that are
   * copied, by their new paths.
   */
  #others(
    definitions: readonly NewFile[],
    taken: ReadonlySet<string>,
  ): { readonly others: readonly NewFile[]; readonly copied: ReadonlyMap<string, string> } {
    const sources = definitions.filter(({ path }) => !isDerivation(path) && !DEFINITIONS.includes(path))
    const found = new Map(sources.map((file) => [file.path, file.bytes]))
    const copied = new Map<string, string>()
    const others = this.#source?.others() ?? { files: [], left: [] }
    for (const { path, reason } of others.left) {
      if (path !== '.gitignore')
        this.#report.add('cannot', { file: path }, `the file is not copied: ${reason}`)
    }
    const all = new Set([...definitions.map(({ path }) => path), ...others.files])
    for (const path of DEFINITIONS.slice(1)) {
      if (!all.has(path)) continue
      this.#report.add('cannot', { file: path }, 'the file is not exported: folio has no such settings')
    }
    const names = new Set(others.files.filter((path) => !isLeft(path) && !path.endsWith(KEPT_ENDING)))
    const isFree = (path: string): boolean =>
      ![names, copied, found].some((paths) => paths.has(path)) &&
      !WRITTEN.includes(path) &&
      !others.files.some((file) => file.startsWith(`${path}/`))
    for (const path of others.files) {
      if (isLeft(path)) continue
      const bare = path.endsWith(KEPT_ENDING) ? path.slice(0, -KEPT_ENDING.length) : path
      // A derivation file that was made from the kept one is there already.
      if (
        taken.has(bare) ||
        (bare !== path && isDerivation(bare) && definitions.some((file) => file.path === bare))
      )
        continue
      const to = bare === path || isFree(bare) ? bare : path
      if (this.#source?.canRead(path) !== true)
        this.#report.add(
          'cannot',
          { file: path },
          'the file is not copied: it cannot be read, or is too large',
        )
      else {
        found.delete(to)
        copied.set(to, path)
      }
    }
    return { others: Array.from(found, ([path, bytes]) => ({ path, bytes })), copied }
  }

  /** Returns the records for folio: without null, with the ids that folio had, and with what was set aside. */
  async #records({ fields, key }: FolioContractExport): Promise<ExportedRecords> {
    const aside = this.#setAside()
    const records = new Map<string, JsonObject>()
    const ids = new Map<string, JsonValue>()
    const putBack = new Set<string>()
    for (const { text } of textLines(join(this.#places.copy, 'records.jsonl'))) {
      const record = parseExactly(text) as JsonObject
      const id = own(record, 'id') as string
      const original = fields.find(({ isOriginalId }) => isOriginalId)
      const given = (original === undefined ? null : own(record, original.name)) ?? id
      const keyType = fields.find((field) => field.keyType !== null)?.keyType ?? null
      const folioId = keyValue(given as string, keyType)
      ids.set(id, folioId)
      const members = fields.flatMap(({ name, folio, isOriginalId }): [string, JsonValue][] => {
        if (isOriginalId) return []
        if (name === 'id') return [[key, folioId]]
        const present = own(record, name)
        const value = present ?? aside.get(cellKey(id, folio)) ?? null
        if (present === null && value !== null) putBack.add(cellKey(id, name))
        return value === null ? [] : [[folio, value]]
      })
      const made = Object.fromEntries(members)
      records.set(id, made)
      if (records.size % TURN === 0) await this.#turn()
    }
    return { records, ids, putBack }
  }

  /** Lets signals arrive. Throws the reason of the signal once that aborts. */
  async #turn(): Promise<void> {
    await nextTurn()
    this.#places.signal?.throwIfAborted()
  }

  /** Returns `records.jsonl` of the sheet that has this path from the exported one; null if there is none. */
  #foreign(sheet: string): Uint8Array | null {
    const { target } = this.#places
    try {
      const path = join(target, sheet, 'records.jsonl')
      return readSheetFile({ directory: dirname(target), path, name: 'records.jsonl' }, (bytes) =>
        checkFileSize(bytes, 'records.jsonl', MAX_BYTES),
      )
    } catch (error) {
      if (error instanceof ContractError) return null
      throw error
    }
  }

  /** Returns the values that were set aside when the sheet was adopted, by id and field of folio. */
  #setAside(): ReadonlyMap<string, JsonValue> {
    const found = new Map<string, JsonValue>()
    const bytes = this.#source?.read(SET_ASIDE_FILE) ?? null
    for (const line of bytes === null ? [] : Buffer.from(bytes).toString().split('\n')) {
      const entry = parsed(line)
      if (entry === null) continue
      const { record_id: id, field, value, file, line: number } = entry
      if (typeof id === 'string' && typeof field === 'string') {
        found.set(cellKey(id, field), value ?? null)
        const what = 'values that were set aside are back, unless the cell has a value now'
        this.#report.count({ action: 'adapted', file: SET_ASIDE_FILE, what }, found.size)
      } else {
        this.#report.add(
          'cannot',
          { file: typeof file === 'string' ? file : SET_ASIDE_FILE, line: Number(number) },
          `a line that was set aside stays in ${SET_ASIDE_FILE}`,
        )
      }
    }
    return found
  }

  /** Reads the names that fields have had from the log. */
  #lineages(): FieldLineages {
    const changes: StoredFieldChange[] = []
    for (const { text } of textLines(join(this.#places.copy, 'provenance.jsonl'))) {
      const line = text.includes('"contract"') ? parsed(text) : null
      const change = line === null ? null : importedChange(line)
      if (change !== null) changes.push(change)
    }
    return new FieldLineages(changes)
  }

  /** Returns the lines of the log for folio. */
  async #log(context: LogContext): Promise<readonly JsonObject[]> {
    const { derivations, names, ids } = context
    const targets = new Set(derivations.flatMap((derivation) => derivation.targets))
    const log: LogExport = { names, idOf: (id) => ids.get(id) ?? id, targets, report: this.#report }
    const lines: JsonObject[] = []
    const last = new Map<string, JsonObject>()
    let read = 0
    const add = ({ id, field, line }: FolioLine): void => {
      lines.push(line)
      last.set(cellKey(id, field), line)
    }
    const lineages = this.#lineages()
    for (const { text } of textLines(join(this.#places.copy, 'provenance.jsonl'))) {
      const line = parsed(text)
      if (line !== null && importedChange(line) === null)
        for (const each of folioLinesOf(presentLine(lineages, line), log)) add(each)
      read += 1
      if (read % TURN === 0) await this.#turn()
    }
    const { store } = await this.#sheet.deriving()
    const now = {
      actor: this.#sheet.defaultActor ?? 'system',
      at: `${new Date().toISOString().slice(0, 19)}Z`,
    }
    for (const derivation of derivations) {
      const hashOf = hashesFor(derivation, context)
      for await (const items of recordsOf(store, derivation)) {
        this.#places.signal?.throwIfAborted()
        for (const { id, cells } of items) {
          const isPutBack = (name: string): boolean => context.putBack.has(cellKey(id, name))
          const hasOthers = derivation.inputs.some(isPutBack)
          for (const { target, state } of cells) {
            const record = context.records.get(id)
            const before = last.get(cellKey(id, target))
            if (record === undefined) continue
            if (state === 'overridden' && before?.['source'] !== 'human_override')
              add(humanLine(id, target, now, log))
            // Folio has other values than those from which the cell was computed here.
            const isSame = state === 'fresh' && !hasOthers && !isPutBack(target)
            const hash = isSame ? (hashOf?.(record) ?? null) : null
            if (hash !== null && before?.['input_hash'] !== hash) {
              add(computedLine({ id, field: target, kind: derivation.kind.name, hash }, now, log))
            }
          }
        }
      }
    }
    return lines
  }
}

/** Whether a file is not exported: it means nothing in folio, or is made anew. */
function isLeft(path: string): boolean {
  return OWN.test(path) || DEFINITIONS.includes(path)
}

function isDerivation(path: string): boolean {
  return path.startsWith('derivations/')
}

interface ExportedRecords {
  /** The records for folio by their ids here. */
  readonly records: ReadonlyMap<string, JsonObject>
  /** The ids in folio by those here. */
  readonly ids: ReadonlyMap<string, JsonValue>
  /** The cells with a value that was set aside, by {@link cellKey}. */
  readonly putBack: ReadonlySet<string>
}

interface LogContext extends ExportedRecords {
  /** Returns a file of the exported sheet; null if there is none. */
  read(path: string): Uint8Array | null
  readonly names: ReadonlyMap<string, string>
  /** The exported derivations. */
  readonly derivations: readonly Derivation[]
  /** The name of the primary key in folio. */
  readonly key: string
  foreign(sheet: string): Uint8Array | null
}

/** Returns the input hashes that folio will compute for the exported files. */
function hashesFor({ file }: Derivation, { read, key, foreign }: LogContext): FolioHash | null {
  const bytes = read(`derivations/${file}`)
  if (bytes === null) return null
  const { value } = parseFolioYaml(bytes, file)
  if (!isJsonObject(value)) return null
  const { kind, source_sheet: sheet } = value
  if (kind === 'cross_sheet' && (typeof sheet !== 'string' || foreign(sheet) === null)) return null
  const derivation = { keys: value, sha256: createHash('sha256').update(bytes).digest('hex') }
  return folioHashOf(derivation, { read, foreignRecords: foreign }, key)
}

function parsed(text: string): JsonObject | null {
  try {
    const value = parseExactly(text)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

/** Returns the primary key of a record in folio. */
function keyValue(text: string, type: string | null): JsonValue {
  if (type === null || type === 'string' || type === 'date' || type === 'timestamp') return text
  try {
    return parseExactly(text) as JsonValue
  } catch {
    return text
  }
}
