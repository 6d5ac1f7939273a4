import { statSync, type BigIntStats } from 'node:fs'
import { RecordsError } from '../../../errors/service-error.ts'
import { Connection } from './connection.ts'

/** Distinguishes a store from another, and from an older copy: the sequence only ascends. */
interface Generation {
  readonly identity: string
  readonly sequence: number
}

/**
 * The file of an open store. SQLite does not notice when the file is replaced, or overwritten with an older copy: what is
 * written then is lost, or mixed with pages of the copy.
 */
export class StoreFile {
  readonly #path: string
  #stats: BigIntStats | undefined
  #generation: Generation | null

  constructor(path: string) {
    this.#path = path
    this.#stats = statOf(path)
    this.#generation = generationOf(path)
  }

  /**
   * Throws RecordsError where the file was removed or replaced, or overwritten by an older copy or another store. Reads the
   * file only after it has changed, as checkpoints change it.
   */
  check(): void {
    const stats = statOf(this.#path)
    const known = this.#stats
    if (stats?.ino !== known?.ino) {
      throw new RecordsError(
        'sheet.db was removed or replaced while it was open; put it back, or restart',
        'store_replaced',
      )
    }
    if (stats?.mtimeNs === known?.mtimeNs && stats?.size === known?.size) return
    const found = generationOf(this.#path)
    // Unknown, as while another process has it locked; the next write checks again.
    if (found === null) return
    const before = this.#generation
    if (before !== null && (found.identity !== before.identity || found.sequence < before.sequence)) {
      throw new RecordsError(
        'sheet.db was overwritten by an older copy or another store while it was open, and writing has stopped; ' +
          'stop the service, restore the file without sheet.db-wal and sheet.db-shm, and start the service again',
        'store_replaced',
      )
    }
    this.#stats = stats
    this.#generation = found
  }
}

function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })
}

/**
 * Returns what a new connection reads, which has no page in memory; null where it cannot read at present. It must be a
 * connection of SQLite: to close the file in any other way would release the locks that this process has on it.
 */
function generationOf(path: string): Generation | null {
  try {
    const db = Connection.forInspection(path)
    try {
      const row = db.get('SELECT hex(cursor_key) AS identity, mirror_seq AS sequence FROM "$sheet"')
      return row === undefined
        ? null
        : { identity: String(row['identity']), sequence: Number(row['sequence']) }
    } finally {
      db.close()
    }
  } catch {
    return null
  }
}
