import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import { ValidationError } from '../errors/service-error.ts'

const KEY_BYTES = 8
const SEAL_BYTES = 16

/**
 * The cursor of the page after an item: where to go on, sealed with the store's key together with the scope, a text that
 * says which list it is, so that a cursor of another list, or one that is made up, can be told from ours (D11).
 */
export function sealCursor(secret: Uint8Array, after: number, scope: string): string {
  const position = Buffer.alloc(KEY_BYTES)
  position.writeBigUInt64BE(BigInt(after))
  return Buffer.concat([position, seal(secret, position, scope)]).toString('base64url')
}

/** The item after which a page starts. Throws ValidationError for a cursor that was not issued for this scope. */
export function openCursor(secret: Uint8Array, cursor: string, scope: string): number {
  const bytes = Buffer.from(cursor, 'base64url')
  const position = bytes.subarray(0, KEY_BYTES)
  const issued =
    bytes.length === KEY_BYTES + SEAL_BYTES &&
    bytes.toString('base64url') === cursor &&
    timingSafeEqual(bytes.subarray(KEY_BYTES), seal(secret, position, scope))
  if (!issued) {
    throw new ValidationError(
      'cursor was not issued by this sheet for this list; take it from next_cursor, with the same filter or as_of if ' +
        'there was one, or leave it out',
    )
  }
  return Number(position.readBigUInt64BE())
}

/** Made once for each secret: that takes longer than a seal. */
const KEYS = new WeakMap<Uint8Array, KeyObject>()

function seal(secret: Uint8Array, position: Uint8Array, scope: string): Buffer {
  let key = KEYS.get(secret)
  if (key === undefined) {
    key = createSecretKey(secret)
    KEYS.set(secret, key)
  }
  return createHmac('sha256', key).update(position).update(scope).digest().subarray(0, SEAL_BYTES)
}
