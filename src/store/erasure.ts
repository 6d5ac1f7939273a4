/** Selects the values to erase. */
export interface EraseRequest {
  readonly recordIds: readonly string[]
  /** The fields whose values are erased; null for all, and the records too. */
  readonly fields: readonly string[] | null
  readonly actor: string
  /** The keys of requests whose kept responses are removed. */
  readonly requests: readonly string[]
  /** Whether nothing is erased: the result is what would be. */
  readonly dryRun: boolean
}

/** The result of erasing values. */
export interface Erasure {
  /** The entries of the log that say what was erased, one for each record that had anything to erase. */
  readonly entries: readonly ErasureEntry[]
  /** The number of lines of the log from which values were erased. */
  readonly lines: number
  /**
   * Whether the files or tables of the store were written anew, so that they have the values nowhere. Where that was not possible, as on a
   * full disk, the same request does it later. False for a dry run.
   */
  readonly isCompacted: boolean
}

export interface ErasureEntry {
  readonly recordId: string
  readonly seq: number
}
