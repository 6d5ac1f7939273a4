import { createHash } from 'node:crypto'
import type { Contract } from '../contract/contract.ts'
import { ConflictError } from '../errors/service-error.ts'
import type { FormulaInFile } from './formula.ts'
import type { SharedFrames } from './shared-frames.ts'
import type { TargetDefinition } from './sheet-store.ts'

/** A file of a sheet's definition. */
export interface RevisionFile {
  /** Relative to the sheet's directory, with `/` between names. */
  readonly path: string
  readonly bytes: Uint8Array
}

/** A pushed version of a sheet's definition. */
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

/** The state of the records, asked together with the newest revision. */
export interface PresentRecords {
  /** Returns what identifies the state at the time of the call, or of the request that has just got the newest revision. */
  state(): Promise<string>
}

/** The revisions of a sheet whose definition is in its store. */
export interface RevisionStore {
  readonly name: string
  /** Frames for the subscribers of all servers, whether or not the definition can be followed. */
  readonly frames: SharedFrames
  readonly present: PresentRecords
  /**
   * Returns the number of the revision in force at the time of the call, or of a later one. Cheap, as every request calls
   * it.
   */
  newest(): Promise<number>
  /** Returns a revision. Throws RecordsError for an unknown number. */
  read(number: number): Promise<Revision>
  close(): Promise<void>
}

/** A sheet's definition to be stored. */
export interface RevisionPush {
  /** The sheet's directory, from whose store or records a new store is created. */
  readonly directory: string
  readonly files: readonly RevisionFile[]
  /** The contract that these files define. */
  readonly contract: Contract
  readonly targets: readonly TargetDefinition[]
  /** The formulas of the derivations, which are checked before anything is stored. */
  readonly formulas: readonly FormulaInFile[]
  readonly actor: string
  readonly note: string | null
  /** Whether nothing is stored and only the outcome is returned. */
  readonly dryRun: boolean
  readonly lockTimeoutMs: number
}

/** The outcome of a push, or of a dry run. */
export interface PushOutcome {
  /** The revision in force afterwards; with a dry run the one that would be. */
  readonly number: number
  /** The revision in force before; null where there was none. */
  readonly before: Revision | null
  /** Whether the push created the store. */
  readonly created: boolean
  /** The contract that the store followed before; null for a store that was created from `records.jsonl`, or empty. */
  readonly contractBefore: Contract | null
  readonly records: number
  /** The derived fields for which something changes. */
  readonly targets: readonly TargetChange[]
}

/** The effect of a push on a derived field. */
export interface TargetChange {
  readonly field: string
  readonly derivation: string
  readonly change: 'added' | 'changed' | 'removed'
  /** The increase of the number of stale cells, and of missing ones. */
  readonly stale: number
  readonly missing: number
}

/** The definition is not that of the revision in force: it must be read again. */
export class OutdatedDefinitionError extends ConflictError {
  constructor(message: string) {
    super(message, 'definition_changed')
  }
}

/** Returns the error of an operation that knows fields as they were before a change of them. */
export function fieldsChanged(): OutdatedDefinitionError {
  return new OutdatedDefinitionError('the fields of the sheet were changed meanwhile; try again')
}

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
