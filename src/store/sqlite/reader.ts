import type { Contract, Field } from '../../contract/contract.ts'
import type {
  CacheEntry,
  CellProvenance,
  JsonBytes,
  Page,
  PageQuery,
  RecordKey,
  StoreStatus,
  WorkItem,
  WorkQuery,
} from '../sheet-store.ts'
import { AnswerCache } from './answer-cache.ts'
import { hashBytes, readCacheEntry } from './commit-cells.ts'
import { Connection } from './connection.ts'
import { ProvenanceReader } from './provenance-reader.ts'
import { recordJsonExpression } from './sql/json-columns.ts'
import { canBeId } from './values.ts'
import { WorkReader } from './work-reader.ts'

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
  readonly #provenance: ProvenanceReader
  readonly #work: WorkReader
  readonly #answers = new AnswerCache<Answer>(ANSWERS_KEPT)
  #selections = new WeakMap<readonly string[], ReadStatements>()
  #contract: Contract
  #dataVersion = -1

  constructor(path: string, contract: Contract) {
    this.#db = Connection.forReading(path)
    this.#provenance = new ProvenanceReader(this.#db)
    this.#work = new WorkReader(this.#db)
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
    const key = `record ${name} ${id}`
    const known = this.#known(key)
    if (known !== undefined) return known.json
    const row = this.#db.get(record, id)
    return row === undefined ? null : this.#keep(key, { json: bytes(row['$json']), next: null }).json
  }

  page({ fields, limit, after }: UnfilteredPage): Page {
    const { name, page } = this.#statements(fields)
    const key = `page ${name} ${limit} ${after}`
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
    return this.#atOnce(() => this.#provenance.read(recordId, this.#field(field), history))
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

  /** Adds the keys of those of the ids that exist. */
  recordKeys(ids: readonly string[], keys: Map<string, RecordKey>): void {
    for (const id of ids) {
      const row = canBeId(id) ? this.#db.get('SELECT "$seq" AS key FROM "$data" WHERE id = ?', id) : undefined
      if (row !== undefined) keys.set(id, Number(row['key']))
    }
  }

  work(query: WorkQuery): WorkItem[] {
    return this.#atOnce(() => this.#work.read(query, this.#contract))
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

/** The bytes of a blob. */
function bytes(blob: unknown): JsonBytes {
  if (!(blob instanceof Uint8Array)) throw new Error('SQLite answered with something that is no blob')
  return Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength)
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
