import { isJsonObject, type JsonObject } from '../contract/json.ts'
import { requireActor } from '../contract/permissions.ts'
import { ValidationError } from '../errors/service-error.ts'
import type { Upsert } from './sheet-store.ts'

/** How many faults a message lists (D13). */
const LISTED_FAULTS = 100

export interface UpsertBody {
  /** As they are sent: yet to be held to the contract. */
  readonly records: readonly JsonObject[]
  readonly actor: string
}

/** Reads the body of an upsert and who sends it. Throws ValidationError for a wrong shape and for want of an actor. */
export function readBody({ body, defaultActor, ifMatch }: Upsert): UpsertBody {
  const value = body instanceof Uint8Array || typeof body === 'string' ? parseBody(body) : body
  if (!isJsonObject(value)) {
    throw new ValidationError(`the body must be a JSON object with "records", got ${kindOf(value)}`)
  }
  const unknown = Object.keys(value).find((key) => key !== 'records' && key !== 'actor')
  if (unknown !== undefined) {
    throw new ValidationError(
      `the body has an unknown member ${JSON.stringify(unknown.slice(0, 80))}; it may have "records" and "actor"`,
    )
  }
  const records = checkRecords(value['records'])
  if (ifMatch !== null && records.length !== 1) {
    throw new ValidationError(
      `a condition on the version is about one record, and "records" has ${records.length}; send them one by one`,
    )
  }
  const given = value['actor'] ?? null
  if (given !== null && typeof given !== 'string') {
    throw new ValidationError(`"actor" must be a string, got ${kindOf(given)}`)
  }
  return { records, actor: requireActor(given, defaultActor) }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

function parseBody(body: Uint8Array | string): unknown {
  if (body.length === 0) return {}
  let text: string
  try {
    text = typeof body === 'string' ? body : UTF8.decode(body)
  } catch {
    throw new ValidationError('the body is not valid UTF-8')
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ValidationError(`the body is not JSON: ${error instanceof Error ? error.message : ''}`)
  }
}

function checkRecords(records: unknown): readonly JsonObject[] {
  if (!Array.isArray(records)) {
    throw new ValidationError(`"records" must be an array of records, got ${kindOf(records)}`)
  }
  const faults: string[] = []
  records.forEach((record, position) => {
    if (!isJsonObject(record)) {
      faults.push(`records[${position}] must be an object, got ${kindOf(record)}`)
    }
  })
  if (faults.length > 0) throw new ValidationError(listFaults(faults))
  return records as readonly JsonObject[]
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Joins the faults of a request into a message. */
export function listFaults(faults: readonly string[]): string {
  const listed = faults.slice(0, LISTED_FAULTS).join('; ')
  const rest = faults.length - LISTED_FAULTS
  return rest > 0 ? `${listed}; and ${rest} more` : listed
}
