import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonObject } from '../../contract/json/json.ts'
import { hasRows, linesOfRecords } from '../../provenance/imported-records.ts'
import { parseStoredInTurns } from '../../provenance/log-line.ts'
import { FieldLineages } from '../../store/fields/field-lineage.ts'
import { importedChange, type StoredFieldChange } from '../../store/fields/stored-changes.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import type { StoredRun } from '../../store/stored-run.ts'
import type { Sheet } from '../sheet.ts'
import { LineBuckets } from './line-buckets.ts'
import { PastDefinitions, type PastDefinition } from './past-definitions.ts'
import { prefixes, PROV_MAPS, ProvWriter, sheetName, type ProvMap } from './prov-document.ts'
import { ProvRecords, type ProvContext } from './prov-records.ts'
import { runsByAge } from './runs-by-age.ts'
import { sheetUuid } from './sheet-ids.ts'
import { TextFile } from './text-file.ts'

/** Lines after which other requests are served. */
const LINES_AT_ONCE = 500

const LINE_FEED = 0x0a

const NOTHING = new Uint8Array()

/**
 * Yields the provenance log as a PROV-JSON document: one JSON object of maps, which are written to temporary files side by side. The log is
 * read once; the memory that this takes depends on the number of actors, runs and changes of the definition.
 */
export async function* provJsonBytes(sheet: Sheet): AsyncGenerator<Uint8Array> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-prov-'))
  try {
    const { store } = await sheet.defined()
    const maps = new ProvMaps(directory)
    try {
      yield* fill(sheet, store, { maps, directory })
    } finally {
      maps.close()
    }
    yield* maps.bytes(prefixes(sheetUuid(store)))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** The maps of a document in temporary files. */
class ProvMaps {
  readonly #files: ReadonlyMap<ProvMap, TextFile>
  readonly #begun = new Set<ProvMap>()

  constructor(directory: string) {
    this.#files = new Map(PROV_MAPS.map((map) => [map, new TextFile(join(directory, map))]))
  }

  add(map: ProvMap, id: string, members: JsonObject): void {
    const separator = this.#begun.has(map) ? ',\n' : ''
    this.#begun.add(map)
    this.#files.get(map)?.add(`${separator}${JSON.stringify(id)}:${JSON.stringify(members)}`)
  }

  close(): void {
    for (const file of this.#files.values()) file.end()
  }

  async *bytes(prefix: JsonObject): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`{"prefix":${JSON.stringify(prefix)}`)
    for (const [map, { path }] of this.#files) {
      if (!this.#begun.has(map)) continue
      yield Buffer.from(`,\n"${map}":{\n`)
      for await (const chunk of createReadStream(path)) yield chunk as Buffer
      yield Buffer.from('\n}')
    }
    yield Buffer.from('\n}\n')
  }
}

/** Fills the maps. Yields no bytes, now and then, so that an export can be stopped meanwhile. */
async function* fill(
  sheet: Sheet,
  store: SheetStore,
  { maps, directory }: { readonly maps: ProvMaps; readonly directory: string },
): AsyncGenerator<Uint8Array> {
  const writer = new ProvWriter((map, id, members) => maps.add(map, id, members))
  for await (const run of runsByAge(sheet)) describeRun(writer, run)
  const { last } = await store.history()
  const { total } = await store.status()
  // A line can have many records.
  const buckets = new LineBuckets(directory, last + total)
  try {
    const log = new SheetLog(writer, await PastDefinitions.read(sheet))
    for (let after = 0; ;) {
      const page = await store.logText({ after, upTo: last })
      if (page === null) break
      after = page.last
      for await (const { bytes, line } of inTurns(linesIn(page.text))) {
        log.note(line)
        if (!hasRows(line)) addTo(buckets, line, bytes)
        else
          for (const each of linesOfRecords(line))
            addTo(buckets, each, Buffer.from(`${JSON.stringify(each)}\n`))
      }
      yield NOTHING
    }
    const records = new ProvRecords(writer, log)
    for (const bucket of buckets.all()) {
      for await (const { line } of inTurns(bucket)) records.add(line)
      records.end()
      yield NOTHING
    }
  } finally {
    buckets.close()
  }
}

function addTo(buckets: LineBuckets, { record_id: id }: JsonObject, bytes: Uint8Array): void {
  if (typeof id === 'string') buckets.add(id, bytes)
}

/** Yields the lines of a text, with their line breaks. */
function* linesIn(text: Uint8Array): Generator<Uint8Array> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = text.indexOf(LINE_FEED, start) + 1
    yield text.subarray(start, end)
  }
}

/** Reads lines of the log, and serves other requests between them. */
async function* inTurns(
  lines: Iterable<Uint8Array>,
): AsyncGenerator<{ readonly bytes: Uint8Array; readonly line: JsonObject }> {
  let read = 0
  for (const bytes of lines) {
    const line = await parseStoredInTurns(Buffer.from(bytes).toString())
    if (line !== null) yield { bytes, line }
    read += 1
    if (read % LINES_AT_ONCE === 0) await nextTurn()
  }
}

function describeRun(writer: ProvWriter, run: StoredRun): void {
  const { kind, state, actor, startedAt, endedAt, file } = run
  const id = sheetName('run', run.id)
  writer.describeOnce('activity', id, {
    'prov:startTime': startedAt,
    ...(endedAt !== null && { 'prov:endTime': endedAt }),
    'colophon:kind': kind,
    'colophon:state': state,
  })
  writer.associate(id, { actor })
  if (file !== undefined) writer.useOnce(id, sheetName('imported', 'run', run.id), { 'prov:label': file })
}

/** Reads from the whole log the context of the lines of records. */
class SheetLog implements ProvContext {
  readonly #writer: ProvWriter
  readonly #definitions: PastDefinitions
  readonly #imports: number[] = []
  readonly #changes: StoredFieldChange[] = []
  readonly #inputs = new Map<string, Inputs>()
  readonly #known = new WeakMap<PastDefinition, Inputs>()
  #lineages: FieldLineages | null = null
  #fields = new Map<string, string>()

  constructor(writer: ProvWriter, definitions: PastDefinitions) {
    this.#writer = writer
    this.#definitions = definitions
  }

  /** Adds a line, in the order of the log. */
  note(line: JsonObject): void {
    const { seq, at, source, run_id: run, record_id: record } = line
    if (typeof run === 'string' && typeof at === 'string' && !this.#inputs.has(run)) {
      this.#inputs.set(run, this.#inputsAt(at))
    }
    if (typeof record === 'string' || hasRows(line)) return
    const change = importedChange(line)
    if (change !== null) this.#changes.push(change)
    if (source === 'import') this.#imports.push(Number(seq))
    this.#describe(line)
  }

  inputsOf(run: string, file: string): readonly string[] {
    return this.#inputs.get(run)?.get(file) ?? []
  }

  importBefore(seq: number): number | null {
    return this.#imports.findLast((imported) => imported < seq) ?? null
  }

  fieldAt(name: string, seq: number): string {
    if (this.#changes.length === 0) return name
    const changes = this.#changes.findLastIndex((change) => change.seq <= seq)
    const key = `${changes} ${name}`
    let field = this.#fields.get(key)
    if (field === undefined) {
      this.#lineages ??= new FieldLineages(this.#changes)
      field = this.#lineages.presentOf(name, seq) ?? `${name} (removed)`
      this.#fields.set(key, field)
    }
    return field
  }

  #inputsAt(at: string): Inputs {
    const definition = this.#definitions.at(at)
    if (definition === null) return new Map()
    const known = this.#known.get(definition)
    if (known !== undefined) return known
    const inputs: Inputs = new Map(definition.derivations.map(({ file, inputs: of }) => [file, of]))
    this.#known.set(definition, inputs)
    return inputs
  }

  /** Describes an import of `records.jsonl`, or a change of fields. */
  #describe({ seq, at, actor, source, file, sha256, ...line }: JsonObject): void {
    if (typeof at !== 'string' || typeof source !== 'string') return
    const id = sheetName(source, Number(seq))
    const { renamed, removed, converted, restored } = line
    const changed = { renamed, removed, converted, restored }
    this.#writer.describe('activity', id, {
      'prov:startTime': at,
      'prov:endTime': at,
      'colophon:kind': source,
      ...(source === 'contract' && { 'colophon:changes': JSON.stringify(changed) }),
    })
    this.#writer.associate(id, { actor: typeof actor === 'string' ? actor : '' })
    if (typeof file !== 'string') return
    const members = { 'prov:label': file, ...(typeof sha256 === 'string' && { 'colophon:sha256': sha256 }) }
    this.#writer.useOnce(id, sheetName('imported', Number(seq)), members)
  }
}

/** The inputs of derivations by their files. */
type Inputs = ReadonlyMap<string, readonly string[]>
