import { setImmediate as nextTurn } from 'node:timers/promises'
import { RawJson } from './raw-json.ts'

/** The number of values that are serialized at once, and of characters in their strings. */
const PART_VALUES = 2000
const PART_LENGTH = 32 << 10

/**
 * Serializes a value like `JSON.stringify`, part by part; the caller decides when to continue. Expects parsed JSON: a
 * value with `toJSON` is serialized at once, unless it is a {@link RawJson}.
 */
export function* stringifyInParts(value: unknown): Generator<string, void> {
  if (typeof value === 'string') yield* stringParts(value)
  else if (value instanceof RawJson) yield* rawParts(value.bytes)
  else if (!isContainer(value) || costOf(value, PART_VALUES) <= PART_VALUES) yield JSON.stringify(value)
  else if (Array.isArray(value)) yield* arrayParts(value)
  else yield* objectParts(value)
}

/** The number of characters that are encoded before other requests are served. */
const LENGTH_A_TURN = 64 << 10

/**
 * Serializes a value that may be large, in parts between which other requests are served. Returns text, or bytes if
 * it has more than one part.
 */
export async function jsonInTurns(value: unknown): Promise<string | Uint8Array> {
  const bytes: Buffer[] = []
  let text = ''
  for (const part of stringifyInParts(value)) {
    text += part
    if (text.length < LENGTH_A_TURN) continue
    bytes.push(Buffer.from(text))
    text = ''
    await nextTurn()
  }
  return bytes.length === 0 ? text : Buffer.concat([...bytes, Buffer.from(text)])
}

function* arrayParts(items: readonly unknown[]): Generator<string, void> {
  yield '['
  for (let start = 0; start < items.length;) {
    if (start > 0) yield ','
    const end = endOfPart(items, start)
    if (end > start) yield JSON.stringify(items.slice(start, end)).slice(1, -1)
    else yield* stringifyInParts(items[start])
    start = Math.max(end, start + 1)
  }
  yield ']'
}

/** Returns the end of the items that fit into a part; the start if the first does not fit. */
function endOfPart(items: readonly unknown[], start: number): number {
  let left = PART_VALUES
  for (let end = start; end < items.length; end += 1) {
    left -= costOf(items[end], left)
    if (left < 0) return end
  }
  return items.length
}

function* objectParts(value: object): Generator<string, void> {
  let text = '{'
  let left = PART_VALUES
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    if (text !== '{') text += ','
    text += `${JSON.stringify(name)}:`
    const cost = 1 + costOf(member, left)
    left -= cost
    if (left >= 0) {
      text += JSON.stringify(member)
      continue
    }
    yield text
    yield* stringifyInParts(member)
    text = ''
    left = PART_VALUES
  }
  yield `${text}}`
}

function* stringParts(text: string): Generator<string, void> {
  yield '"'
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + PART_LENGTH, text.length)
    // Not between the two halves of a character.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1
    yield JSON.stringify(text.slice(start, end)).slice(1, -1)
    start = end
  }
  yield '"'
}

function* rawParts(bytes: Buffer): Generator<string, void> {
  for (let start = 0; start < bytes.length;) {
    let end = Math.min(start + PART_LENGTH, bytes.length)
    // Not within a character.
    while (end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1
    yield bytes.toString('utf8', start, end)
    start = end
  }
}

/** Returns the share of a part that a value needs; stops counting beyond `most`. */
function costOf(value: unknown, most: number): number {
  if (typeof value === 'string') return 1 + Math.floor((value.length * PART_VALUES) / PART_LENGTH)
  if (value instanceof RawJson) return PART_VALUES + 1
  if (!isContainer(value)) return 1
  let cost = 1
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      cost += costOf(item, most - cost)
      if (cost > most) break
    }
    return cost
  }
  for (const name in value) {
    cost += costOf(name, most) + costOf((value as Readonly<Record<string, unknown>>)[name], most - cost)
    if (cost > most) break
  }
  return cost
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value)
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
