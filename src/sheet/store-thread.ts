import { WriterClient } from '../store/sqlite/write/writer-client.ts'
import { isStoreUrl } from './store-place.ts'

/** The thread in which the store of a sheet's directory writes. */
export type StoreThread = WriterClient

/**
 * Starts the thread for the sheet at a path that is about to be opened, so that it loads its part of the program while the rest is
 * loaded; the store of a URL has none. If no sheet comes to use it, it ends with the process.
 */
export function startStoreThread(path: string): StoreThread | undefined {
  return isStoreUrl(path) ? undefined : new WriterClient()
}
