import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import { ValidationError } from '../errors/service-error.ts'
import type { RecordKey } from '../store/sheet-store.ts'

const KEY_BYTES = 8
const SEAL_BYTES = 16

/**
 * The cursor of the page after a record: where to go on, sealed with the store's key together with the filter, so
 * that a cursor of our own making for another list can be told from ours (D11).
 */
export function sealCursor(secret: Uint8Array, after: RecordKey, filter: string | null): string {
  const position = Buffer.alloc(KEY_BYTES)
  position.writeBigUInt64BE(BigInt(after))
  return Buffer.concat([position, seal(secret, position, filter)]).toString('base64url')
}

/** The record after which a page starts. Throws ValidationError for a cursor that was not issued for this filter. */
export function openCursor(secret: Uint8Array, cursor: string, filter: string | null): RecordKey {
  const bytes = Buffer.from(cursor, 'base64url')
  const position = bytes.subarray(0, KEY_BYTES)
  const issued =
    bytes.length === KEY_BYTES + SEAL_BYTES &&
    bytes.toString('base64url') === cursor &&
    timingSafeEqual(bytes.subarray(KEY_BYTES), seal(secret, position, filter))
  if (!issued) {
    throw new ValidationError(
      'cursor was not issued by this sheet for this filter; take it from next_cursor, with the same filter, or leave it out',
    )
  }
  return Number(position.readBigUInt64BE())
}

/** Made once for each secret: that takes longer than a seal. */
const KEYS = new WeakMap<Uint8Array, KeyObject>()

function seal(secret: Uint8Array, position: Uint8Array, filter: string | null): Buffer {
  let key = KEYS.get(secret)
  if (key === undefined) {
    key = createSecretKey(secret)
    KEYS.set(secret, key)
  }
  const text = filter === null ? 'all' : `filter ${filter}`
  return createHmac('sha256', key).update(position).update(text).digest().subarray(0, SEAL_BYTES)
}
