import { readFileSync, statSync } from 'node:fs'
import { ContractError } from '../errors/service-error.ts'

/** A file changed less than this before it was read may change again without its time telling. */
const RACY_MS = 50

/**
 * A file that may be edited at any time. Asking whether it changed costs a few microseconds, so that every request
 * can ask (D3).
 */
export class TextFile {
  readonly #path: string
  readonly #name: string
  #stamp = ''
  #racy = true
  #content: Content | undefined

  /** `name` is what messages call the file. */
  constructor(path: string, name: string) {
    this.#path = path
    this.#name = name
  }

  /** The file's bytes when it was last looked at; null when there was no such file. Throws ContractError. */
  get bytes(): Buffer | null {
    if (this.#content instanceof ContractError) throw this.#content
    return this.#content ?? null
  }

  /** Looks at the file; true when its bytes are others than before, and the first time. */
  refresh(): boolean {
    const { stamp, changedMs } = stampOf(this.#path)
    if (stamp === this.#stamp && !this.#racy) return false
    this.#stamp = stamp
    this.#racy = Date.now() - changedMs < RACY_MS
    const before = this.#content
    this.#content = readIfThere(this.#path, this.#name)
    return before === undefined || !isSame(before, this.#content)
  }
}

/** What a file holds, null when there is none, or why it cannot be read. */
type Content = Buffer | null | ContractError

function isSame(before: Content, now: Content): boolean {
  if (Buffer.isBuffer(before) && Buffer.isBuffer(now)) return before.equals(now)
  if (before instanceof ContractError && now instanceof ContractError) return before.message === now.message
  return before === now
}

function stampOf(path: string): { readonly stamp: string; readonly changedMs: number } {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (stat === undefined) return { stamp: 'none', changedMs: 0 }
  return {
    stamp: `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`,
    changedMs: Number(stat.ctimeMs),
  }
}

function readIfThere(path: string, name: string): Content {
  try {
    return readFileSync(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'ENOENT') return null
    return new ContractError(`${name} cannot be read (${code}); make it a file that the server may read`)
  }
}
