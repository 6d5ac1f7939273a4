import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import type { InputValues } from '../definition/derivation-kind.ts'

/** The members of every hashed object; a kind cannot add members of these names. */
export const HASH_MEMBERS: ReadonlySet<string> = new Set(['derivation', 'inputs'])

/**
 * The parts that the input hash covers (H4, D24). Left out on purpose: the response (H5), header values, since they may contain secrets
 * (D23), and the method, which the derivation file's bytes cover.
 */
export interface HashParts {
  /** Hex SHA-256 of the derivation file's bytes. */
  readonly derivationSha256: string
  /** Every input of the derivation, a field without a value as null. */
  readonly inputs: InputValues
  /** The members that the kind adds to the hashed object: for http `url` and `body` after templating. */
  readonly hashed: JsonObject
}

/**
 * Returns `sha256:` and the hex SHA-256 of the parts as one object in canonical JSON (RFC 8785): the same on every machine
 * (D24).
 */
export function inputHash({ derivationSha256, inputs, hashed }: HashParts): string {
  // Serializing member by member takes half the time of one object.
  let text = ''
  for (const { name, start } of membersOf(Object.keys(hashed))) {
    text += start
    if (name === 'derivation') text += `"${derivationSha256}"`
    else text += name === 'inputs' ? canonicalObject(inputs) : canonical(hashed[name] ?? null)
  }
  return `sha256:${hash('sha256', `{${text}}`, 'hex')}`
}

interface Member {
  readonly name: string
  /** The text before its value. */
  readonly start: string
}

/** The members of the last object, by the names that its kind added: the plans of a run usually have the same. */
let last: { readonly added: readonly string[]; readonly members: readonly Member[] } | null = null

/** Returns all members in canonical order. */
function membersOf(added: readonly string[]): readonly Member[] {
  if (last?.added.length === added.length && last.added.every((name, index) => name === added[index])) {
    return last.members
  }
  const names = [...added, ...HASH_MEMBERS].toSorted()
  const members = names.map((name, index) => ({
    name,
    start: `${index === 0 ? '' : ','}${canonical(name)}:`,
  }))
  last = { added, members }
  return members
}

function canonicalObject(values: InputValues): string {
  // RFC 8785 orders members by UTF-16 code units.
  const names = Object.keys(values).toSorted()
  return `{${names.map((name) => `${canonical(name)}:${canonical(values[name] ?? null)}`).join(',')}}`
}

function canonical(value: JsonValue): string {
  const text = canonicalize(value)
  if (text === undefined) throw new Error('a part of an input hash has no canonical JSON')
  return text
}
