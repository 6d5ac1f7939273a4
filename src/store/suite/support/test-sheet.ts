import type { DefinitionEffect } from '../../definition-change.ts'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after as afterAll, before as beforeAll, type TestContext } from 'node:test'
import { contractText } from '../../../../test/support/contract-with.ts'
import { parseContract } from '../../../contract/odcs/parse-contract.ts'
import type { Contract } from '../../../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import type { EntryPlace, FoundEntries } from '../../cell-entries.ts'
import { NO_CHANGES, type FieldChanges, type FieldsEffect } from '../../field-changes.ts'
import type { CellCommit, CellOutcome, CellResult, WorkItem } from '../../cell-work.ts'
import type {
  Page,
  PagePlace,
  SheetStore,
  StoreDefinition,
  TargetDefinition,
  TargetStatus,
  Upsert,
  UpsertResult,
} from '../../sheet-store.ts'
import type { NewRun, RunId } from '../../stored-run.ts'

/** The options with which a store is opened. */
export interface StoreOptions {
  readonly contract: Contract
  readonly targets: readonly TargetDefinition[] | null
  /** The actor of the import of `records.jsonl`. */
  readonly actor: string
  readonly lockTimeoutMs: number
  onSourceDiffers(): void
}

/** Opens the store of the sheet in a directory, or creates it. */
export interface OpenStore {
  (directory: string, options: StoreOptions): Promise<SheetStore>
  /** False for an engine without a `provenance.jsonl` in the directory: its log is that of a snapshot. */
  readonly keepsLog?: boolean
  /** The part of the random operations that suffices for an engine that is slow at each (default: all). */
  readonly randomPart?: number
}

export interface SheetSetup {
  /** Properties of the contract beside `id`, each in YAML flow style. */
  readonly properties: readonly string[]
  readonly targets?: readonly TargetDefinition[] | null
  /** Lines of `records.jsonl`: text unchanged, anything else as JSON. */
  readonly records?: readonly (string | JsonObject)[]
  /** Lines of an existing `provenance.jsonl`. */
  readonly log?: readonly JsonObject[]
  readonly lockTimeoutMs?: number
  /** The contract's `deletableBy`. */
  readonly deletableBy?: readonly string[]
}

/** For suites whose tests share a sheet. */
export const IN_TURN = { concurrency: false }

export const HUMAN = 'human:ann'
export const AGENT = 'agent:materializer'

/** The progress of a run that makes no calls and skips no cell. */
export const NOTHING_ELSE: CellCommit['progress'] = {
  skipped: 0,
  left: 0,
  calls: 0,
  totalCost: 0,
  unpricedCalls: 0,
}

/** The name of the file of {@link TestSheet.importRecords}. */
export const IMPORTED_FILE = 'people.csv'

/** Entries on a page that the tests read: few, so that histories have several pages. */
const ENTRIES_ON_PAGE = 3

/**
 * Returns all entries of a cell, oldest first; null for a record that never existed. Asserts that they are the same page by
 * page and from the latest back.
 */
export async function entriesOf(
  store: SheetStore,
  recordId: string,
  field: string,
): Promise<readonly JsonObject[] | null> {
  const entries: JsonObject[] = []
  for (let from: EntryPlace | null = null; ;) {
    const page: FoundEntries | null = await store.entries({ recordId, field, from, limit: ENTRIES_ON_PAGE })
    if (page === null) return null
    assert.ok(page.entries.length <= ENTRIES_ON_PAGE)
    entries.push(...page.entries)
    if (page.next === null) break
    assert.equal(page.entries.length, ENTRIES_ON_PAGE)
    from = page.next
  }
  const latest = await store.provenance(recordId, field, entries.length + 1)
  assert.deepEqual(latest, { entries: entries.toReversed(), isCut: false })
  return entries
}

/** Asserts that the entries of a record are those of its cells by seq, page by page. */
export async function checkEntriesOfRecord(
  store: SheetStore,
  recordId: string,
  fields: readonly string[],
): Promise<void> {
  const ofCells: JsonObject[] = []
  for (const field of fields) ofCells.push(...((await entriesOf(store, recordId, field)) ?? []))
  const entries: JsonObject[] = []
  for (let from: EntryPlace | null = null; ;) {
    const page: FoundEntries | null = await store.entries({ recordId, field: null, from, limit: 3 })
    if (page === null) break
    const seqs = new Set(page.entries.map(({ seq }) => seq))
    assert.ok(page.entries.length <= 3 || seqs.size === 1, 'the limit is exceeded by one line only')
    entries.push(...page.entries)
    if (page.next === null) break
    from = page.next
  }
  const seqs = entries.map(({ seq }) => Number(seq))
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
  )
  assert.deepEqual(entries.toSorted(bySeqAndField), ofCells.toSorted(bySeqAndField), `entries of ${recordId}`)
}

function bySeqAndField(one: JsonObject, other: JsonObject): number {
  const bySeq = Number(one['seq']) - Number(other['seq'])
  return bySeq === 0 ? (JSON.stringify(one['field']) < JSON.stringify(other['field']) ? -1 : 1) : bySeq
}

/** Returns the request of a run of everything. */
export function newRun(more: Partial<NewRun> = {}): NewRun {
  return {
    kind: 'materialize',
    reverts: null,
    actor: AGENT,
    targets: null,
    recordIds: null,
    force: false,
    overwriteManual: false,
    only: null,
    limit: null,
    maxCalls: null,
    maxCost: null,
    reuseResponses: false,
    stopAfterFailures: null,
    silentMs: 30_000,
    ...more,
  }
}

/** Returns a derived field for tests. */
export function target(
  field: string,
  inputs: readonly string[],
  more: Partial<TargetDefinition> = {},
): TargetDefinition {
  return {
    field,
    derivation: `${field}.yaml`,
    sha256: sha256(`${field}.yaml`),
    text: `${field}.yaml`,
    kind: 'http',
    inputs,
    required: [],
    nonEmpty: [],
    ...more,
  }
}

/** Returns the hex SHA-256 of a text. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Returns an input hash. */
export function hashOf(text: string): string {
  return `sha256:${sha256(text)}`
}

/** The first page of all records in creation order. */
export const FIRST_PAGE = { after: null, filter: null, sort: [], skip: 0 } as const

/** A sheet in a temporary directory, with its store open. */
export class TestSheet {
  readonly directory: string
  readonly #open: OpenStore
  readonly #lockTimeoutMs: number
  #setup: { properties: readonly string[]; targets: readonly TargetDefinition[] | null }
  readonly #deletableBy: readonly string[] | null
  #store: SheetStore | null = null
  #run: Promise<RunId> | null = null
  sourceDiffers = 0

  private constructor(open: OpenStore, setup: SheetSetup) {
    this.directory = mkdtempSync(join(tmpdir(), 'colophon-store-'))
    this.#open = open
    this.#lockTimeoutMs = setup.lockTimeoutMs ?? 5000
    this.#deletableBy = setup.deletableBy ?? null
    this.#setup = { properties: setup.properties, targets: setup.targets === undefined ? [] : setup.targets }
  }

  /** Makes the directory and its files without opening the store. */
  static async files(t: TestContext, open: OpenStore, setup: SheetSetup): Promise<TestSheet> {
    const sheet = new TestSheet(open, setup)
    t.after(() => sheet.#remove())
    if (setup.records !== undefined) await sheet.put('records.jsonl', setup.records)
    if (setup.log !== undefined) await sheet.put('provenance.jsonl', setup.log)
    return sheet
  }

  static async make(t: TestContext, open: OpenStore, setup: SheetSetup): Promise<TestSheet> {
    const sheet = await TestSheet.files(t, open, setup)
    await sheet.open()
    return sheet
  }

  /** Returns a sheet that the tests of a suite share; call it where the suite is described. */
  static shared(open: OpenStore, setup: SheetSetup): TestSheet {
    const sheet = new TestSheet(open, setup)
    beforeAll(() => sheet.open())
    afterAll(() => sheet.#remove())
    return sheet
  }

  async #remove(): Promise<void> {
    await this.close()
    await rm(this.directory, { recursive: true })
  }

  get store(): SheetStore {
    assert.ok(this.#store, 'the store is not open')
    return this.#store
  }

  get contract(): Contract {
    return this.#parse(this.#setup.properties)
  }

  #parse(properties: readonly string[]): Contract {
    const text = contractText(properties)
    if (this.#deletableBy === null) return parseContract(text)
    const value = JSON.stringify(this.#deletableBy)
    return parseContract(`${text}customProperties: [{property: deletableBy, value: ${value}}]\n`)
  }

  get fields(): string[] {
    return this.contract.fields.map(({ name }) => name)
  }

  async open(): Promise<SheetStore> {
    this.#store = await this.openAnother()
    return this.#store
  }

  /** Opens the store once more; the caller closes it. */
  openAnother(): Promise<SheetStore> {
    return this.#open(this.directory, {
      contract: this.contract,
      targets: this.#setup.targets,
      actor: 'system:import',
      lockTimeoutMs: this.#lockTimeoutMs,
      onSourceDiffers: () => {
        this.sourceDiffers += 1
      },
    })
  }

  async close(): Promise<void> {
    const store = this.#store
    this.#store = null
    await store?.close()
  }

  async reopen(): Promise<void> {
    await this.close()
    await this.open()
  }

  /** Applies another contract or other derived fields to the store. What is refused changes nothing here either. */
  async define(
    change: Partial<{ properties: readonly string[]; targets: readonly TargetDefinition[] | null }>,
    changes?: Partial<FieldChanges>,
  ): Promise<FieldsEffect> {
    const setup = { ...this.#setup, ...change }
    const effect = await this.store.define(this.#definition(setup, changes))
    this.#setup = setup
    return effect
  }

  /** Returns the effect that the same would have. */
  tryDefine(change: Partial<SheetSetup>, changes?: Partial<FieldChanges>): Promise<FieldsEffect> {
    return this.store.tryDefine(this.#definition({ ...this.#setup, ...change }, changes))
  }

  /** Returns the effect of a change of the definition, which is not made. */
  tryChange(change: Partial<SheetSetup>, changes: Partial<FieldChanges>): Promise<DefinitionEffect> {
    return this.store.changeDefinition({
      proposal: null,
      definition: this.#definition({ ...this.#setup, ...change }, changes),
      files: [],
      base: [],
      present: [],
      outdated: new Map(),
      formulas: [],
      actor: HUMAN,
      note: null,
      reverts: null,
      dryRun: true,
    })
  }

  #definition(
    { properties, targets = null }: Pick<SheetSetup, 'properties' | 'targets'>,
    changes: Partial<FieldChanges> | undefined,
  ): StoreDefinition {
    const contract = this.#parse(properties)
    if (changes === undefined) return { contract, targets }
    return { contract, targets, changes: { ...NO_CHANGES, actor: HUMAN, ...changes } }
  }

  async put(file: string, lines: readonly (string | JsonObject)[]): Promise<void> {
    const text = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
    await writeFile(join(this.directory, file), text)
  }

  /** Returns the lines of `provenance.jsonl`; close the store first. */
  async log(): Promise<JsonObject[]> {
    const text = await this.logText()
    assert.ok(text === '' || text.endsWith('\n'), 'provenance.jsonl ends in the middle of a line')
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as JsonObject)
  }

  /** Returns the text of `provenance.jsonl`; empty for none. */
  async logText(): Promise<string> {
    if (this.#open.keepsLog !== false) {
      const path = join(this.directory, 'provenance.jsonl')
      return existsSync(path) ? readFileSync(path, 'utf8') : ''
    }
    const directory = mkdtempSync(join(tmpdir(), 'colophon-log-'))
    const store = await this.openAnother()
    try {
      await store.snapshot(directory)
      return readFileSync(join(directory, 'provenance.jsonl'), 'utf8')
    } finally {
      await store.close()
      await rm(directory, { recursive: true })
    }
  }

  write(records: readonly JsonValue[], actor: string | null = HUMAN): Promise<UpsertResult> {
    return this.upsert({ body: { records, ...(actor === null ? {} : { actor }) } })
  }

  /** Returns the id of a run that imports a file; see {@link importRecords}. */
  importRun(): Promise<RunId> {
    return this.store.startRun(newRun({ kind: 'import', actor: HUMAN, file: IMPORTED_FILE }))
  }

  /** Writes records as an import of a file does. */
  importRecords(records: readonly JsonValue[], run: RunId, actor: string = HUMAN): Promise<UpsertResult> {
    return this.upsert({ body: { records, actor }, run, file: IMPORTED_FILE })
  }

  upsert(upsert: Pick<Upsert, 'body'> & Partial<Upsert>): Promise<UpsertResult> {
    return this.store.upsert({ defaultActor: null, ifMatch: null, ...upsert })
  }

  async get(id: string, fields: readonly string[] = this.fields): Promise<JsonObject | null> {
    const found = await this.store.record(id, fields)
    if (found === null) return null
    const record: unknown = JSON.parse(String(found.json))
    assert.ok(isJsonObject(record))
    return record
  }

  /** Returns all records in order, read in pages of `limit`. */
  async all(limit = 10_000): Promise<JsonObject[]> {
    const records: JsonObject[] = []
    for (let after: PagePlace | null = null; ;) {
      const page: Page = await this.store.page({ ...FIRST_PAGE, fields: this.fields, limit, after })
      records.push(...(JSON.parse(String(page.records)) as JsonObject[]))
      if (page.next === null) return records
      after = page.next
    }
  }

  async empty(): Promise<void> {
    const ids = (await this.all()).map(({ id }) => id as string)
    await this.store.delete(ids, HUMAN)
  }

  async history(id: string, field: string): Promise<readonly JsonObject[]> {
    const entries = await entriesOf(this.store, id, field)
    assert.ok(entries, `record ${id} is not known`)
    return entries
  }

  /** Returns the latest entry of a cell, or null for none. */
  async latest(id: string, field: string): Promise<JsonObject | null> {
    const provenance = await this.store.provenance(id, field, 1)
    assert.ok(provenance, `record ${id} is not known`)
    assert.ok(provenance.entries.length <= 1)
    return provenance.entries[0] ?? null
  }

  async counts(field: string): Promise<TargetStatus> {
    const status = (await this.store.status()).targets.find((candidate) => candidate.field === field)
    assert.ok(status, `no target ${field}`)
    return status
  }

  /** Returns the pending record for a target, as a run would read it. */
  async workOf(id: string, field: string, inputs: readonly string[] = []): Promise<WorkItem> {
    const only = [...(await this.store.recordKeys([id])).values()]
    const query = { targets: [field], inputs, force: true, state: null, after: null, limit: 1, only }
    const [item] = await this.store.work(query)
    assert.ok(item, `record ${id} does not exist`)
    return item
  }

  /** Returns the result of a computation of a cell that was read. */
  result(item: WorkItem, field: string, result: CellResult['result']): CellResult {
    const cell = item.cells.find((candidate) => candidate.target === field)
    const definition = this.#setup.targets?.find((candidate) => candidate.field === field)
    assert.ok(cell && definition)
    return { key: item.key, target: field, version: cell.version, sha256: definition.sha256, result }
  }

  /** The run in which this sheet's cells are computed; it begins with the first call. */
  run(): Promise<RunId> {
    this.#run ??= this.store.startRun(newRun())
    return this.#run
  }

  /** Returns an empty commit of that run. */
  async commitOf(): Promise<CellCommit> {
    return { actor: AGENT, run: await this.run(), progress: NOTHING_ELSE, cells: [], cache: [] }
  }

  async commit(...cells: readonly CellResult[]): Promise<readonly CellOutcome[]> {
    return this.store.commitCells({ ...(await this.commitOf()), cells })
  }

  /** Commits cells of another run. */
  commitTo(
    run: RunId,
    cells: readonly CellResult[],
    progress: Partial<CellCommit['progress']> = {},
  ): Promise<readonly CellOutcome[]> {
    const known = { ...NOTHING_ELSE, ...progress }
    return this.store.commitCells({ actor: AGENT, run, progress: known, cells, cache: [] })
  }

  /** Computes a cell. */
  async compute(
    id: string,
    field: string,
    value: JsonValue,
    hash = `${id} ${JSON.stringify(value)}`,
  ): Promise<CellOutcome> {
    const item = await this.workOf(id, field)
    const [outcome] = await this.commit(this.result(item, field, computed(value, hash)))
    assert.ok(outcome)
    return outcome
  }

  async fail(id: string, field: string, error = 'GET https://a.example/ -> 503'): Promise<void> {
    const item = await this.workOf(id, field)
    const outcomes = await this.commit(
      this.result(item, field, { kind: 'failed', error, errorType: 'ServiceError', reason: 'status' }),
    )
    assert.deepEqual(outcomes, [{ outcome: 'stored' }])
  }
}

/** Returns a successful result. */
export function computed(value: JsonValue, hash: string): CellResult['result'] {
  const provenance = { cached: false, method: 'GET', url: 'https://a.example/', status: 200, duration_ms: 1 }
  return { kind: 'computed', value, inputHash: hashOf(hash), provenance }
}
