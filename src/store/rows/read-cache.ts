import { LRUCache } from 'lru-cache'

/** Bytes of a cached response beside its JSON. */
const OVERHEAD = 128

/** A cache of responses for as long as nothing is written, bounded in bytes. The least recently used are removed first. */
export type ReadCache<T extends JsonResponse> = Pick<LRUCache<string, T>, 'get' | 'set' | 'clear'>

interface JsonResponse {
  readonly json: Uint8Array
}

/** Returns an empty cache with a limit in bytes. */
export function readCache<T extends JsonResponse>(maxBytes: number): ReadCache<T> {
  return new LRUCache({
    maxSize: maxBytes,
    // One response must not displace all others.
    maxEntrySize: Math.floor(maxBytes / 8),
    sizeCalculation: ({ json }, key) => json.byteLength + 2 * key.length + OVERHEAD,
  })
}
