import type { Contract, Field } from '../../contract/contract.ts'
import type { JsonObject } from '../../contract/json.ts'
import { entryOfField, entryOfImport, parseLine } from '../../provenance/log-line.ts'
import type {
  CacheEntry,
  CellProvenance,
  CellState,
  JsonBytes,
  Page,
  PageQuery,
  RecordKey,
  StoreStatus,
  WorkCell,
  WorkItem,
  WorkQuery,
} from '../sheet-store.ts'
import { AnswerCache } from './answer-cache.ts'
import { markOf } from './cell-states.ts'
import { hashBytes, hashText, readCacheEntry } from './commit-cells.ts'
import { Connection, type StoredRow } from './connection.ts'
import { FAILED, MISSING, quoted, STALE } from './schema.ts'
import { recordJsonExpression } from './sql/json-columns.ts'
import { canBeId, fromColumn } from './values.ts'

/** Bytes of answers that are kept until the next write. */
const ANSWERS_KEPT = 16 << 20

type UnfilteredPage = Omit<PageQuery, 'filter'>

/** A record or a page as it is answered. */
interface Answer {
  readonly json: JsonBytes
  readonly next: RecordKey | null
}

interface ReadStatements {
  /** Tells lists of fields apart. */
  readonly name: string
  readonly record: string
  readonly page: string
}

/**
 * Everything that is read from the store but SQL from users, on a connection of its own in the calling thread.
 * Nothing that another connection can change is kept without asking SQLite whether it did.
 */
export class Reader {
  readonly #db: Connection
  readonly #answers = new AnswerCache<Answer>(ANSWERS_KEPT)
  #selections = new WeakMap<readonly string[], ReadStatements>()
  #contract: Contract
  #dataVersion = -1

  constructor(path: string, contract: Contract) {
    this.#db = Connection.forReading(path)
    this.#contract = contract
  }

  /** Follows a new contract. */
  use(contract: Contract): void {
    this.#contract = contract
    this.#answers.clear()
    this.#selections = new WeakMap()
  }

  close(): void {
    this.#db.close()
  }

  record(id: string, fields: readonly string[]): JsonBytes | null {
    if (!canBeId(id)) return null
    const { name, record } = this.#statements(fields)
    const key = `${name} ${id}`
    const known = this.#known(key)
    if (known !== undefined) return known.json
    const row = this.#db.get(record, id)
    return row === undefined ? null : this.#keep(key, { json: bytes(row['$json']), next: null }).json
  }

  page({ fields, limit, after }: UnfilteredPage): Page {
    const { name, page } = this.#statements(fields)
    const key = `${name} ${limit} ${after}`
    const known = this.#known(key)
    if (known !== undefined) return { records: known.json, next: known.next }
    const row = this.#db.get(page, after ?? 0, limit)
    const next = row?.['$more'] === 1 ? Number(row['$last']) : null
    const { json: records } = this.#keep(key, { json: bytes(row?.['$json']), next })
    return { records, next }
  }

  /**
   * The statements that answer with these fields, made once for a list of fields. Bytes, since text would be turned
   * into a string and back. Names of their own contain `$`: SQLite would take others for fields of that name.
   */
  #statements(fields: readonly string[]): ReadStatements {
    let statements = this.#selections.get(fields)
    if (statements === undefined) {
      const json = recordJsonExpression(this.#fields(fields))
      statements = {
        name: fields.join(),
        record: `SELECT CAST(${json} AS BLOB) AS "$json" FROM "$data" WHERE id = ?`,
        page: `SELECT "$json", "$last", EXISTS (SELECT 1 FROM "$data" WHERE "$seq" > "$last") AS "$more" FROM (
          SELECT CAST('[' || ifnull(group_concat("$record"), '') || ']' AS BLOB) AS "$json", max("$seq") AS "$last" FROM (
            SELECT "$seq", ${json} AS "$record" FROM "$data" WHERE "$seq" > ? ORDER BY "$seq" LIMIT ?))`,
      }
      this.#selections.set(fields, statements)
    }
    return statements
  }

  status(): StoreStatus {
    return this.#atOnce(() => this.#readStatus())
  }

  #readStatus(): StoreStatus {
    const sheet = this.#db.get('SELECT records, last_record FROM "$sheet"')
    const total = Number(sheet?.['records'])
    const lastKey = Number(sheet?.['last_record'])
    const targets = this.#db.all('SELECT * FROM "$target" WHERE active = 1 ORDER BY id').map((row) => {
      const count = (counter: string): number => Number(row[counter])
      const [missing, stale, failed, overridden] = ['missing', 'stale', 'failed', 'overridden'].map(
        count,
      ) as [number, number, number, number]
      return {
        field: String(row['field']),
        fresh: total - missing - stale - failed - overridden,
        stale,
        missing,
        failed,
        overridden,
        lastAt: textOrNull(row['last_at']),
        lastActor: textOrNull(row['last_actor']),
        lastError: failed > 0 ? textOrNull(row['last_error']) : null,
      }
    })
    return { total, lastKey, targets }
  }

  provenance(recordId: string, field: string, history: boolean): CellProvenance {
    if (!canBeId(recordId)) return { known: false }
    return this.#atOnce(() => this.#readProvenance(recordId, field, history))
  }

  /** Reads with several statements from one state of the store. */
  #atOnce<T>(read: () => T): T {
    this.#db.exec('BEGIN')
    try {
      return read()
    } finally {
      this.#db.exec('COMMIT')
    }
  }

  #readProvenance(recordId: string, field: string, history: boolean): CellProvenance {
    const entries: JsonObject[] = []
    let known = false
    for (const incarnation of this.#incarnations(recordId)) {
      known = true
      entries.push(...this.#entries({ recordId, field, key: incarnation }, entries.at(-1)))
    }
    if (!known) return { known: false }
    return { known: true, entries: history ? entries : entries.slice(-1) }
  }

  /** The lives of a record: deleted and created again, it has several. Oldest first; null for a log from before. */
  #incarnations(recordId: string): (RecordKey | null)[] {
    const earlier = this.#db.get('SELECT 1 FROM "$provenance" WHERE earlier_id = ? LIMIT 1', recordId)
    const keys = this.#db.all(
      'SELECT record AS key FROM "$deleted" WHERE record_id = ?1 UNION SELECT "$seq" FROM "$data" WHERE id = ?1 ORDER BY 1',
      recordId,
    )
    return earlier === undefined ? keysOf(keys) : [null, ...keysOf(keys)]
  }

  /** The entries of a cell in one life of its record; `earlier` is the last of the life before. */
  #entries(cell: CellOfLife, earlier: JsonObject | undefined): JsonObject[] {
    const { recordId, field, key } = cell
    const [column, value] = key === null ? ['earlier_id', recordId] : ['record', key]
    const entries = this.#db
      .all(`SELECT line FROM "$provenance" WHERE ${column} = ? ORDER BY seq`, value)
      .map((row) => parseLine(String(row['line'])))
      .map((line) => (line === null ? null : entryOfField(line, field)))
      .filter((entry) => entry !== null)
    const imported =
      key === null ? null : this.#importEntry({ recordId, field, key }, { earlier, later: entries[0] })
    return imported === null ? entries : [imported, ...entries]
  }

  /**
   * What an import brought to a cell: the value before the first later entry, or that of today. Null is worth an entry
   * when a log from before the import says otherwise (D34).
   */
  #importEntry(
    cell: CellOfLife & { key: RecordKey },
    { earlier, later }: { earlier: JsonObject | undefined; later: JsonObject | undefined },
  ): JsonObject | null {
    const row = this.#db.get(
      'SELECT line FROM "$import" JOIN "$provenance" USING (seq) WHERE first <= ? AND last >= ?',
      cell.key,
      cell.key,
    )
    const line = row === undefined ? null : parseLine(String(row['line']))
    if (line === null) return null
    const value = later === undefined ? this.#currentValue(cell) : (later['previous'] ?? null)
    const previous = earlier?.['value'] ?? null
    return value === null && previous === null ? null : entryOfImport(line, { ...cell, value, previous })
  }

  #currentValue({ field, key }: { field: string; key: RecordKey }): ReturnType<typeof fromColumn> {
    const row = this.#db.get(`SELECT ${quoted(field)} AS value FROM "$data" WHERE "$seq" = ?`, key)
    return fromColumn(this.#field(field), row?.['value'])
  }

  recordKeys(ids: readonly string[]): ReadonlyMap<string, RecordKey> {
    const keys = new Map<string, RecordKey>()
    for (const id of ids.filter(canBeId)) {
      const row = this.#db.get('SELECT "$seq" AS key FROM "$data" WHERE id = ?', id)
      if (row !== undefined) keys.set(id, Number(row['key']))
    }
    return keys
  }

  work(query: WorkQuery): WorkItem[] {
    const inputs = this.#fields(query.inputs)
    return this.#atOnce(() => {
      const targets = this.#targetIds(query.targets)
      return this.#workKeys(query, [...targets.values()])
        .map((key) => this.#workItem(key, targets, inputs))
        .filter((item) => item !== null)
    })
  }

  #targetIds(fields: readonly string[]): Map<string, number> {
    const all = new Map(
      this.#db
        .all('SELECT id, field FROM "$target"')
        .map((row) => [String(row['field']), Number(row['id'])] as const),
    )
    return new Map(fields.map((field) => [field, all.get(field) ?? 0]))
  }

  #workKeys({ force, after, limit, only }: WorkQuery, targets: readonly number[]): RecordKey[] {
    const from = after ?? 0
    if (only !== null) {
      const wanted = (key: RecordKey): boolean =>
        key > from && (force ? this.#exists(key) : this.#hasWork(key, targets))
      return only.values().filter(wanted).take(limit).toArray()
    }
    if (force) {
      return keysOf(
        this.#db.all(
          'SELECT "$seq" AS key FROM "$data" WHERE "$seq" > ? ORDER BY "$seq" LIMIT ?',
          from,
          limit,
        ),
      )
    }
    const perTarget = targets.flatMap((target) =>
      keysOf(
        this.#db.all(
          'SELECT record AS key FROM "$todo" WHERE target = ? AND record > ? ORDER BY record LIMIT ?',
          target,
          from,
          limit,
        ),
      ),
    )
    return [...new Set(perTarget)].toSorted((a, b) => a - b).slice(0, limit)
  }

  #exists(key: RecordKey): boolean {
    return this.#db.get('SELECT 1 FROM "$data" WHERE "$seq" = ?', key) !== undefined
  }

  #hasWork(key: RecordKey, targets: readonly number[]): boolean {
    return targets.some(
      (target) =>
        this.#db.get('SELECT 1 FROM "$todo" WHERE target = ? AND record = ?', target, key) !== undefined,
    )
  }

  #workItem(key: RecordKey, targets: ReadonlyMap<string, number>, inputs: readonly Field[]): WorkItem | null {
    const columns = ['id', ...inputs.map(({ name }) => quoted(name))]
    const row = this.#db.get(`SELECT ${columns.join(', ')} FROM "$data" WHERE "$seq" = ?`, key)
    if (row === undefined) return null
    const values = Object.create(null) as Record<string, ReturnType<typeof fromColumn>>
    for (const field of inputs) values[field.name] = fromColumn(field, row[field.name])
    return {
      key,
      id: String(row['id']),
      inputs: values,
      cells: [...targets].map(([target, id]) => this.#workCell(target, id, key)),
    }
  }

  #workCell(target: string, id: number, key: RecordKey): WorkCell {
    const cell = this.#db.get('SELECT hash, mark FROM "$cell" WHERE target = ? AND record = ?', id, key)
    const todo = this.#db.get('SELECT state, mark FROM "$todo" WHERE target = ? AND record = ?', id, key)
    const hash = cell?.['hash'] as Uint8Array | null | undefined
    return {
      target,
      state: cellState(cell, todo),
      inputHash: hash === null || hash === undefined ? null : hashText(hash),
      mark: markOf(cell?.['mark'], todo?.['mark']),
    }
  }

  cached(hashes: readonly string[]): ReadonlyMap<string, CacheEntry> {
    const entries = new Map<string, CacheEntry>()
    for (const inputHash of hashes) {
      const row = this.#db.get('SELECT entry FROM "$cache" WHERE hash = ?', hashBytes(inputHash))
      if (row !== undefined) entries.set(inputHash, readCacheEntry(inputHash, row['entry']))
    }
    return entries
  }

  #known(key: string): Answer | undefined {
    const version = Number(this.#db.get('PRAGMA data_version')?.['data_version'])
    if (version !== this.#dataVersion) {
      this.#answers.clear()
      this.#dataVersion = version
    }
    return this.#answers.get(key)
  }

  #keep(key: string, answer: Answer): Answer {
    this.#answers.set(key, answer)
    return answer
  }

  #fields(names: readonly string[]): Field[] {
    return names.map((name) => this.#field(name))
  }

  #field(name: string): Field {
    const field = this.#contract.fieldByName.get(name)
    if (field === undefined) throw new Error(`no field ${name}`)
    return field
  }
}

interface CellOfLife {
  readonly recordId: string
  readonly field: string
  /** Null for a life that is known from a log of before the store. */
  readonly key: RecordKey | null
}

function cellState(cell: StoredRow | undefined, todo: StoredRow | undefined): CellState {
  if (cell !== undefined && cell['hash'] === null) return 'overridden'
  switch (todo?.['state']) {
    case FAILED:
      return 'failed'
    case MISSING:
      return 'missing'
    case STALE:
      return 'stale'
    default:
      return 'fresh'
  }
}

function keysOf(rows: readonly StoredRow[]): RecordKey[] {
  return rows.map((row) => Number(row['key']))
}

/** The bytes of a blob. */
function bytes(blob: unknown): JsonBytes {
  if (!(blob instanceof Uint8Array)) throw new Error('SQLite answered with something that is no blob')
  return Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength)
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
