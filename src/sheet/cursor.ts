import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import { ValidationError } from '../errors/service-error.ts'
import type { PagePlace, SortValue } from '../store/sheet-store.ts'

const KEY_BYTES = 8
const SIGNATURE_BYTES = 16

/**
 * Returns the cursor of the page after an item, signed with the store's key. `scope` identifies the list: a cursor of
 * another list, or a forged one, is rejected (D11).
 */
export function signCursor(secret: Uint8Array, after: number, scope: string): string {
  return signPlace(secret, { key: after, values: [] }, scope)
}

/** Returns the cursor of the page after a place in a sorted list, which has sort values too. */
export function signPlace(secret: Uint8Array, { key, values }: PagePlace, scope: string): string {
  const keyBytes = Buffer.alloc(KEY_BYTES)
  keyBytes.writeBigUInt64BE(BigInt(key))
  const place =
    values.length === 0 ? keyBytes : Buffer.concat([keyBytes, Buffer.from(JSON.stringify(values))])
  return Buffer.concat([place, signature(secret, place, scope)]).toString('base64url')
}

/**
 * Returns the key of the item after which a page starts. Throws ValidationError for a cursor that was not issued for
 * this scope.
 */
export function openCursor(secret: Uint8Array, cursor: string, scope: string): number {
  return openPlace(secret, cursor, scope).key
}

/** Returns the place after which a page of a sorted list starts. Throws as {@link openCursor} does. */
export function openPlace(secret: Uint8Array, cursor: string, scope: string): PagePlace {
  const bytes = Buffer.from(cursor, 'base64url')
  const place = bytes.subarray(0, Math.max(KEY_BYTES, bytes.length - SIGNATURE_BYTES))
  const issued =
    bytes.length >= KEY_BYTES + SIGNATURE_BYTES &&
    bytes.toString('base64url') === cursor &&
    timingSafeEqual(bytes.subarray(place.length), signature(secret, place, scope))
  if (!issued) {
    throw new ValidationError(
      'cursor was not issued by this sheet for this list; take it from next_cursor, with the same filter, sort or as_of ' +
        'if there was one, or leave it out',
      'invalid_cursor',
    )
  }
  const values = place.subarray(KEY_BYTES)
  return {
    key: Number(place.readBigUInt64BE()),
    values: values.length === 0 ? [] : (JSON.parse(String(values)) as SortValue[]),
  }
}

/** Key objects by secret: creating one takes longer than a signature. */
const KEYS = new WeakMap<Uint8Array, KeyObject>()

function signature(secret: Uint8Array, position: Uint8Array, scope: string): Buffer {
  let key = KEYS.get(secret)
  if (key === undefined) {
    key = createSecretKey(secret)
    KEYS.set(secret, key)
  }
  return createHmac('sha256', key).update(position).update(scope).digest().subarray(0, SIGNATURE_BYTES)
}
