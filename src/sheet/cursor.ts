import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import { ValidationError } from '../errors/service-error.ts'
import type { PagePlace, SortValue } from '../store/sheet-store.ts'

const KEY_BYTES = 8
const SEAL_BYTES = 16

/**
 * The cursor of the page after an item: where to go on, sealed with the store's key together with the scope, a text that
 * says which list it is, so that a cursor of another list, or one that is made up, can be told from ours (D11).
 */
export function sealCursor(secret: Uint8Array, after: number, scope: string): string {
  return sealPlace(secret, { key: after, values: [] }, scope)
}

/** The same in a list that is sorted, where the place has values too. */
export function sealPlace(secret: Uint8Array, { key, values }: PagePlace, scope: string): string {
  const keyBytes = Buffer.alloc(KEY_BYTES)
  keyBytes.writeBigUInt64BE(BigInt(key))
  const place =
    values.length === 0 ? keyBytes : Buffer.concat([keyBytes, Buffer.from(JSON.stringify(values))])
  return Buffer.concat([place, seal(secret, place, scope)]).toString('base64url')
}

/** The item after which a page starts. Throws ValidationError for a cursor that was not issued for this scope. */
export function openCursor(secret: Uint8Array, cursor: string, scope: string): number {
  return openPlace(secret, cursor, scope).key
}

/** The place after which a page starts. Throws as {@link openCursor} does. */
export function openPlace(secret: Uint8Array, cursor: string, scope: string): PagePlace {
  const bytes = Buffer.from(cursor, 'base64url')
  const place = bytes.subarray(0, Math.max(KEY_BYTES, bytes.length - SEAL_BYTES))
  const issued =
    bytes.length >= KEY_BYTES + SEAL_BYTES &&
    bytes.toString('base64url') === cursor &&
    timingSafeEqual(bytes.subarray(place.length), seal(secret, place, scope))
  if (!issued) {
    throw new ValidationError(
      'cursor was not issued by this sheet for this list; take it from next_cursor, with the same filter, sort or as_of ' +
        'if there was one, or leave it out',
    )
  }
  const values = place.subarray(KEY_BYTES)
  return {
    key: Number(place.readBigUInt64BE()),
    values: values.length === 0 ? [] : (JSON.parse(String(values)) as SortValue[]),
  }
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
