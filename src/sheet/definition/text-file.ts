import { join } from 'node:path'
import { checkFileSize } from '../../contract/yaml/yaml-limits.ts'
import { ContractError } from '../../errors/service-error.ts'
import { FileStamp } from './file-stamp.ts'
import { readSheetFile } from '../../store/sheet-files/sheet-paths.ts'

/**
 * A file of a sheet that may be edited at any time. Checking it for changes takes a few microseconds, so that every
 * request can (D3).
 */
export class TextFile {
  readonly #directory: string
  readonly #name: string
  readonly #checkSize: (bytes: number, name: string) => void
  readonly #stamp: FileStamp
  #content: Content | undefined

  /** Takes the path relative to the sheet's directory, which is also its name in error messages. */
  constructor(directory: string, name: string, checkSize = checkFileSize) {
    this.#directory = directory
    this.#name = name
    this.#checkSize = checkSize
    this.#stamp = new FileStamp(join(directory, name))
  }

  /** The bytes as last read; null when there was no such file. Throws ContractError. */
  get bytes(): Buffer | null {
    if (this.#content instanceof ContractError) throw this.#content
    return this.#content ?? null
  }

  /** The size of the bytes as last read. */
  get size(): number {
    return Buffer.isBuffer(this.#content) ? this.#content.length : 0
  }

  /** Reads the file if it may have changed; true when its bytes did, and the first time. */
  refresh(): boolean {
    if (!this.#stamp.mayDiffer()) return false
    const before = this.#content
    this.#content = this.#read()
    // A file that cannot be read may be readable a moment later, as when the system had no file descriptors left.
    if (this.#content instanceof ContractError) this.#stamp.invalidate()
    return before === undefined || !isSame(before, this.#content)
  }

  #read(): Content {
    const place = {
      directory: this.#directory,
      path: join(this.#directory, this.#name),
      name: this.#name,
    }
    try {
      return readSheetFile(place, (bytes) => this.#checkSize(bytes, this.#name))
    } catch (error) {
      if (error instanceof ContractError) return error
      throw error
    }
  }
}

/** The content of a file, null when it does not exist, or the error of reading it. */
type Content = Buffer | null | ContractError

function isSame(before: Content, now: Content): boolean {
  if (Buffer.isBuffer(before) && Buffer.isBuffer(now)) return before.equals(now)
  if (before instanceof ContractError && now instanceof ContractError) return before.message === now.message
  return before === now
}
