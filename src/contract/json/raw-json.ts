import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonObject, JsonValue } from './json.ts'

/** The size in bytes from which a value of the log is kept as JSON text. */
const RAW_JSON_BYTES: number = 64 << 10

/**
 * A long JSON value kept as UTF-8 text, for values that are only serialized: building or serializing an array of
 * millions of items would block other requests.
 */
export class RawJson {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Returns the value, so that `JSON.stringify` writes it as any other. */
  toJSON(): unknown {
    return JSON.parse(this.bytes.toString())
  }
}

/** Returns the value of a JSON text, a long one as {@link RawJson}, which stands for a value of any type. */
export function rawValue(json: Buffer): JsonValue {
  if (json.length < RAW_JSON_BYTES) return JSON.parse(json.toString()) as JsonValue
  return new RawJson(json) as unknown as JsonObject
}

/** The number of bytes that are scanned at once. */
const PART_BYTES = 256 << 10

const [QUOTE, COLON, COMMA, BACKSLASH, SPACE] = [0x22, 0x3a, 0x2c, 0x5c, 0x20]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Reads the members of a JSON object in UTF-8 without parsing their values: the text of each by its name; null for
 * another value. Yields after each part; the caller decides when to continue. The text must be valid JSON.
 */
export function* rawMembers(json: Buffer): Generator<void, ReadonlyMap<string, Buffer> | null> {
  const members = new Map<string, Buffer>()
  let at = skipSpace(json, 0)
  if (json[at] !== OPEN_OBJECT) return null
  for (at = skipSpace(json, at + 1); json[at] === QUOTE; at = skipSpace(json, at + 1)) {
    const end = yield* endOfValue(json, at)
    const name = JSON.parse(json.toString('utf8', at, end)) as string
    at = skipSpace(json, end)
    if (json[at] !== COLON) return null
    const start = skipSpace(json, at + 1)
    at = yield* endOfValue(json, start)
    members.set(name, json.subarray(start, at))
    at = skipSpace(json, at)
    if (json[at] !== COMMA) break
  }
  return json[at] === CLOSE_OBJECT ? members : null
}

/** The same in turns, between which other requests are served, of what is an object. */
export async function rawMembersInTurns(json: Buffer): Promise<ReadonlyMap<string, Buffer>> {
  const steps = rawMembers(json)
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value ?? new Map<string, Buffer>()
    await nextTurn()
  }
}

function skipSpace(json: Buffer, from: number): number {
  let at = from
  while (at < json.length && (json[at] as number) <= SPACE) at += 1
  return at
}

/** Returns the offset after a value. A number or a word ends at the next comma, bracket or space. */
function* endOfValue(json: Buffer, start: number): Generator<void, number> {
  let depth = 0
  let isInString = false
  let pause = start + PART_BYTES
  for (let at = start; at < json.length; at += 1) {
    if (at >= pause) {
      yield
      pause = at + PART_BYTES
    }
    const byte = json[at] as number
    if (isInString) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isInString = false
      else continue
      if (isInString || depth > 0) continue
      return at + 1
    }
    if (byte === QUOTE) isInString = true
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth += 1
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      if (depth === 0) return at
      depth -= 1
      if (depth === 0) return at + 1
    } else if (depth === 0 && (byte === COMMA || byte <= SPACE)) return at
  }
  return json.length
}
