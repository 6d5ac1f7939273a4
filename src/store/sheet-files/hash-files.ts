import { createHash } from 'node:crypto'
import type { RevisionFile } from '../revision-store.ts'

/** Returns a hex SHA-256 of paths and bytes that does not depend on the order of the files. */
export function hashFiles(files: readonly RevisionFile[]): string {
  const hash = createHash('sha256')
  for (const { path, bytes } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const size = new DataView(new ArrayBuffer(16))
    size.setBigUint64(0, BigInt(Buffer.byteLength(path)))
    size.setBigUint64(8, BigInt(bytes.length))
    hash.update(new Uint8Array(size.buffer)).update(path).update(bytes)
  }
  return hash.digest('hex')
}
