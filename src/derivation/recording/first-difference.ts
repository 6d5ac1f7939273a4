import { isJsonObject, type JsonValue } from '../../contract/json/json.ts'
import type { SentRequest } from './recorded-call.ts'

/** Characters of a text that are shown from its first difference on. */
const SHOWN = 40

/** Returns the first difference of a request from a recorded one as text: in the method, the URL, a header, or the body at a path. */
export function firstDifference(sent: SentRequest, recorded: SentRequest): string {
  if (sent.method !== recorded.method) return `the method is ${sent.method}, recorded ${recorded.method}`
  if (sent.url !== recorded.url) return textDifference('the URL', sent.url, recorded.url)
  return headerDifference(sent.headers, recorded.headers) ?? bodyDifference(sent.body, recorded.body)
}

function headerDifference(sent: SentRequest['headers'], recorded: SentRequest['headers']): string | null {
  const [own, other] = [byLowerCase(sent), byLowerCase(recorded)]
  for (const name of [...new Set([...own.keys(), ...other.keys()])].toSorted()) {
    const [value, before] = [own.get(name), other.get(name)]
    if (value === before) continue
    if (before === undefined) return `the header "${name}" is new`
    return value === undefined
      ? `the header "${name}" is missing`
      : textDifference(`the header "${name}"`, value, before)
  }
  return null
}

function byLowerCase(headers: SentRequest['headers']): ReadonlyMap<string, string> {
  return new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function bodyDifference(sent: string | null, recorded: string | null): string {
  if (sent === null) return 'it has no body, and the recorded one has'
  if (recorded === null) return 'it has a body, and the recorded one has none'
  const [own, other] = [jsonOf(sent), jsonOf(recorded)]
  const found = own === undefined || other === undefined ? null : jsonDifference('', own, other)
  return found ?? textDifference('the body', sent, recorded)
}

/** Returns the first difference of JSON values with its path; null if they differ in nothing but the order of members. */
function jsonDifference(path: string, sent: JsonValue, recorded: JsonValue): string | null {
  if (Array.isArray(sent) && Array.isArray(recorded)) {
    const [own, other] = [sent as readonly JsonValue[], recorded as readonly JsonValue[]]
    for (const [index, value] of own.entries()) {
      if (index >= other.length) break
      const found = jsonDifference(`${path}[${index}]`, value, other[index] ?? null)
      if (found !== null) return found
    }
    if (own.length === other.length) return null
    return `the number of items of the body at ${path} is ${own.length}, recorded ${other.length}`
  }
  if (isJsonObject(sent) && isJsonObject(recorded)) {
    for (const name of new Set([...Object.keys(sent), ...Object.keys(recorded)])) {
      const at = path === '' ? name : `${path}.${name}`
      if (!Object.hasOwn(recorded, name)) return `the body has ${at}, which the recorded one has not`
      if (!Object.hasOwn(sent, name)) return `the body has no ${at}, which the recorded one has`
      const found = jsonDifference(at, sent[name] ?? null, recorded[name] ?? null)
      if (found !== null) return found
    }
    return null
  }
  if (typeof sent === 'string' && typeof recorded === 'string') {
    return sent === recorded ? null : textDifference(`the body at ${path}`, sent, recorded)
  }
  const [own, other] = [JSON.stringify(sent), JSON.stringify(recorded)]
  return own === other ? null : `the body at ${path} is ${startOf(own)}, recorded ${startOf(other)}`
}

/** Returns where two texts differ, counted in characters from 1, and both from there on. */
function textDifference(what: string, sent: string, recorded: string): string {
  const [own, other] = [[...sent], [...recorded]]
  const at = own.findIndex((character, index) => character !== other[index])
  const from = at === -1 ? own.length : at
  const rest = (characters: readonly string[]): string =>
    JSON.stringify(startOf(characters.slice(from, from + SHOWN + 1).join('')))
  return `${what} differs at character ${from + 1}: ${rest(own)}, recorded ${rest(other)}`
}

function startOf(text: string): string {
  const characters = Array.from(text.slice(0, 2 * SHOWN + 2))
  return characters.length > SHOWN ? `${characters.slice(0, SHOWN).join('')}…` : text
}

function jsonOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
