/** Selects the values to erase. */
export interface EraseRequest {
  readonly recordIds: readonly string[]
  /** The fields whose values are erased; null for all, and the records too. */
  readonly fields: readonly string[] | null
  readonly actor: string
  /** The calls that were made for the records. */
  readonly calls: ErasedCalls
  /** Whether nothing is erased: the result is what would be. */
  readonly dryRun: boolean
}

/** Calls of the recording. */
export interface ErasedCalls {
  /** The keys of their requests, by which responses are kept. */
  readonly requests: readonly string[]
  /** The places of their lines. */
  readonly places: readonly number[]
  /** The place up to which the recording was searched for them. */
  readonly upTo: number
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
