import { WriterClient } from '../store/sqlite/write/writer-client.ts'
import { isStoreUrl } from './store-url.ts'

/** The thread that writes to the store of a sheet's directory. */
export type StoreThread = WriterClient

/**
 * Starts the writing thread for the sheet at a path that is about to be opened, so that it loads its modules while the
 * others are loaded; undefined for a store URL. A thread that no sheet uses ends with the process.
 */
export function startStoreThread(path: string): StoreThread | undefined {
  return isStoreUrl(path) ? undefined : new WriterClient()
}
