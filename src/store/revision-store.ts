import type { Contract } from '../contract/contract.ts'
import { ConflictError } from '../errors/service-error.ts'
import type { SharedFrames } from './shared-frames.ts'
import type { TargetDefinition } from './sheet-store.ts'

/** A file that says what a sheet is. */
export interface RevisionFile {
  /** As in a sheet's directory, with `/` between names. */
  readonly path: string
  readonly bytes: Uint8Array
}

/** A state of the files that say what a sheet is, as somebody pushed it. */
export interface Revision {
  /** From 1; the highest is in force. */
  readonly number: number
  /** ISO 8601, UTC. */
  readonly at: string
  readonly actor: string
  readonly note: string | null
  /** Hex SHA-256 of all files, by {@link hashFiles}. */
  readonly sha256: string
  /** In the order of their paths. */
  readonly files: readonly RevisionFile[]
}

/** The revisions of a sheet whose definition is in its store. */
export interface RevisionStore {
  /** The sheet's name. */
  readonly name: string
  /** Frames for the subscribers of all servers, whether or not the definition can be followed. */
  readonly frames: SharedFrames
  /** The number of the revision in force when this was asked, or of a later one. Cheap: every request asks. */
  newest(): Promise<number>
  /** Throws RecordsError for a number that there is none of. */
  read(number: number): Promise<Revision>
  close(): Promise<void>
}

/** A sheet's definition that is to be put into its store. */
export interface RevisionPush {
  /** The sheet's directory, from whose store or records a new store begins. */
  readonly directory: string
  readonly files: readonly RevisionFile[]
  /** What these files come to. */
  readonly contract: Contract
  readonly targets: readonly TargetDefinition[]
  readonly actor: string
  readonly note: string | null
  /** Only finds out what would come of it. */
  readonly dryRun: boolean
  readonly lockTimeoutMs: number
}

/** What a push came to, or would come to. */
export interface PushOutcome {
  /** The revision in force afterwards; with a dry run the one that would be. */
  readonly number: number
  /** The revision in force before; null where there was none. */
  readonly before: Revision | null
  /** Whether the store was made by it. */
  readonly created: boolean
  /** The contract that the store followed before; null for a store that was made from `records.jsonl`, or from nothing. */
  readonly contractBefore: Contract | null
  readonly records: number
  /** The derived fields for which something changes. */
  readonly targets: readonly TargetChange[]
}

/** What a push does to a derived field. */
export interface TargetChange {
  readonly field: string
  /** Name of the derivation file. */
  readonly derivation: string
  readonly change: 'added' | 'changed' | 'removed'
  /** How many more cells are stale, and how many more are missing, than before. */
  readonly stale: number
  readonly missing: number
}

/** The definition is not that of the revision in force: it has to be read again. */
export class OutdatedDefinitionError extends ConflictError {
  constructor(message: string) {
    super(message, 'definition_changed')
  }
}
