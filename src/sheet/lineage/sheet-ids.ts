import { createHash } from 'node:crypto'
import type { SheetStore } from '../../store/sheet-store.ts'

/** The namespace of the UUIDs of sheets: a constant that was made at random. */
const SHEETS = '6f1b7c52-9d0e-4a0b-8a3f-2f5b8c0f4e61'

/** Returns the UUID of a sheet: always the same for a store, and another one for a copy of it. */
export function sheetUuid({ cursorKey }: Pick<SheetStore, 'cursorKey'>): string {
  return uuidOf(SHEETS, Buffer.from(cursorKey).toString('hex'))
}

/** Returns the UUID of a name within a namespace, which is a UUID too (RFC 9562, version 5). */
export function uuidOf(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
    .subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
