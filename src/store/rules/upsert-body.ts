import { parseRecordsBody, parseRecordsBodyInTurns } from '../../contract/json/json-text.ts'
import { isJsonObject, type JsonObject } from '../../contract/json/json.ts'
import { requireActor } from '../../contract/rules/permissions.ts'
import { PART_BYTES } from '../../contract/json/parse-in-parts.ts'
import { WrittenNumber } from '../../contract/json/written-number.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { listMessage } from '../../errors/violations.ts'
import type { Upsert } from '../sheet-store.ts'

/** The most violations that a message lists (D13). */
const LISTED = 100

export interface UpsertBody {
  /** The records as sent, not validated. */
  readonly records: readonly JsonObject[]
  readonly actor: string
}

/** Reads the body of an upsert and its actor. Throws ValidationError for a wrong shape and for a missing actor. */
export function readBody(upsert: Upsert): UpsertBody {
  const { body } = upsert
  return checkBody(isText(body) ? (body.length === 0 ? {} : parseRecordsBody(body)) : body, upsert)
}

/**
 * Reads the body on the main thread, and yields to other requests between parts of a long body. A short one is read when
 * this returns, so that the order of requests is kept.
 */
export function readBodyInTurns(upsert: Upsert): UpsertBody | Promise<UpsertBody> {
  const { body } = upsert
  if (!isText(body) || body.length <= PART_BYTES) return readBody(upsert)
  return parseRecordsBodyInTurns(body).then((value) => checkBody(value, upsert))
}

function checkBody(value: unknown, { defaultActor, actor, ifMatch }: Upsert): UpsertBody {
  if (!isJsonObject(value)) {
    throw new ValidationError(`the body must be a JSON object with "records", got ${kindOf(value)}`)
  }
  const unknown = Object.keys(value).find((key) => key !== 'records' && key !== 'actor')
  if (unknown !== undefined) {
    throw new ValidationError(
      `the body has an unknown member ${JSON.stringify(unknown.slice(0, 80))}; it may have "records" and "actor"`,
      'unknown_parameter',
    )
  }
  const records = checkRecords(value['records'])
  if (ifMatch !== null && records.length !== 1) {
    throw new ValidationError(
      `a condition on the version is about one record, and "records" has ${records.length}; send them one by one`,
      'conflicting_parameters',
    )
  }
  const given = value['actor'] ?? null
  if (given !== null && typeof given !== 'string') {
    throw new ValidationError(`"actor" must be a string, got ${kindOf(given)}`)
  }
  return { records, actor: actor ?? requireActor(given, defaultActor) }
}

function isText(body: Upsert['body']): body is Uint8Array | string {
  return body instanceof Uint8Array || typeof body === 'string'
}

function checkRecords(records: unknown): readonly JsonObject[] {
  if (!Array.isArray(records)) {
    throw new ValidationError(`"records" must be an array of records, got ${kindOf(records)}`)
  }
  const violations = new Violations()
  records.forEach((record: unknown, position) => {
    if (isJsonObject(record)) return
    violations.add(() => `records[${position}] must be an object, got ${kindOf(record)}`)
  })
  if (violations.count > 0) throw new ValidationError(violations.message(), 'invalid_records')
  return records as readonly JsonObject[]
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (value instanceof WrittenNumber) return 'a number'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The violations of a request; only as many as a message lists are kept (D13). */
export class Violations<T = string> {
  readonly listed: T[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  add(violation: () => T): void {
    this.#count += 1
    if (this.listed.length < LISTED) this.listed.push(violation())
  }

  /** Returns the message that lists them. */
  message(this: Violations): string {
    return listMessage(this.listed, this.count)
  }
}
