import { fromBase64, joined, toBase64, utf8 } from './bytes.ts'
import type { Sha256 } from './merkle.ts'

/** The algorithm number of Ed25519 in keys of signed notes (C2SP signed-note). */
const ED25519 = 1

export const KEY_BYTES = 32
const ID_BYTES = 4
const PRIVATE = 'PRIVATE+KEY+'
/** C2SP signed-note: not empty, without spaces and plus signs. */
const KEY_NAME = /^[^\s+\p{Cc}]{1,200}$/u

/** A public key, with the name that its signatures have. */
export interface NoteKey {
  readonly name: string
  /** The first four bytes of a hash of name and key: tells keys of the same name apart. */
  readonly id: Uint8Array
  /** An Ed25519 public key: 32 bytes. */
  readonly bytes: Uint8Array
}

/** A private key as its file has it. */
export interface NoteSecret {
  readonly name: string
  /** The seed of an Ed25519 key: 32 bytes. */
  readonly seed: Uint8Array
  /** The id that the text has, which must be that of the public key. */
  readonly id: Uint8Array
}

export function isKeyName(name: string): boolean {
  return KEY_NAME.test(name)
}

export function noteKey(sha256: Sha256, name: string, bytes: Uint8Array): NoteKey {
  const id = sha256(joined(utf8(`${name}\n`), Uint8Array.of(ED25519), bytes)).subarray(0, ID_BYTES)
  return { name, id, bytes }
}

/** Returns a public key as one line of text, `name+id+key`, as the package `note` of Go writes it. */
export function formatKey({ name, id, bytes }: NoteKey): string {
  return `${name}+${hex(id)}+${toBase64(joined(Uint8Array.of(ED25519), bytes))}`
}

/** Reads what {@link formatKey} writes; null for anything else. */
export function parseKey(sha256: Sha256, text: string): NoteKey | null {
  const parts = keyParts(text.trim())
  if (parts === null) return null
  const key = noteKey(sha256, parts.name, parts.bytes)
  return hex(key.id) === parts.id ? key : null
}

/** Returns a private key as one line of text, as the package `note` of Go writes it. */
export function formatSecret({ name, id }: NoteKey, seed: Uint8Array): string {
  return `${PRIVATE}${name}+${hex(id)}+${toBase64(joined(Uint8Array.of(ED25519), seed))}`
}

/** Reads what {@link formatSecret} writes; null for anything else. */
export function parseSecret(text: string): NoteSecret | null {
  const trimmed = text.trim()
  if (!trimmed.startsWith(PRIVATE)) return null
  const parts = keyParts(trimmed.slice(PRIVATE.length))
  return parts === null
    ? null
    : { name: parts.name, seed: parts.bytes, id: Uint8Array.from(parts.id.match(/../g) ?? [], hexByte) }
}

function keyParts(text: string): { name: string; id: string; bytes: Uint8Array } | null {
  // The base64 at the end may have plus signs.
  const [, name = '', id = '', encoded = ''] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/.exec(text) ?? []
  const bytes = fromBase64(encoded)
  if (!isKeyName(name) || bytes?.length !== KEY_BYTES + 1 || bytes[0] !== ED25519) return null
  return { name, id, bytes: bytes.subarray(1) }
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function hexByte(text: string): number {
  return Number.parseInt(text, 16)
}
