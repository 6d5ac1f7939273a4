import type { AcceptedProposal } from '../provenance/log-line.ts'
import type { FieldsEffect } from './field-changes.ts'

/** A definition file that a change adds, edits or removes. */
export interface ChangedFile {
  /** `contract.yaml`, `derivations/<name>.yaml`, or the file of a prompt, which is only edited. */
  readonly path: string
  /** The bytes before and after; null where there is no such file. */
  readonly before: Uint8Array | null
  readonly after: Uint8Array | null
}

/** A definition file, as it was when the definition was read. */
export interface BaseFile {
  readonly path: string
  /** Hex SHA-256 of its bytes; null where there was no such file. */
  readonly sha256: string | null
}

/** The effect of a change, or of a dry run of it: both are the same for the same state of the sheet. */
export interface DefinitionEffect {
  /** The id of the change in the history; null with a dry run. */
  readonly id: string | null
  /** The number of records. */
  readonly records: number
  /** The fields that change, and why the stored records do not allow that: only a dry run returns conflicts. */
  readonly fields: FieldsEffect
  /** The derived fields for which something changes. */
  readonly targets: readonly TargetEffect[]
}

/** The effect on a derived field. */
export interface TargetEffect {
  readonly field: string
  /** The name of its derivation file, after the change if it has one then. */
  readonly derivation: string
  /** Null where only the states of cells change, since inputs do. */
  readonly change: 'added' | 'changed' | 'removed' | null
  /** The states of its cells before and after; null where the field is not derived. */
  readonly before: CellCounts | null
  readonly after: CellCounts | null
}

/** The numbers of the cells of a derived field in each state; `fresh` to `overridden` add up to the number of records. */
export interface CellCounts {
  readonly fresh: number
  readonly stale: number
  readonly missing: number
  readonly failed: number
  readonly overridden: number
  /** Pending cells that a run cannot compute because of an input (D32). */
  readonly blocked: number
}

/** The numbers of cells of a derived field whose states a check of its derivation changes. Plain data. */
export interface OutdatedCount {
  /** Fresh cells that become stale. */
  readonly fresh: number
  /** Failed cells that become stale, and those that become missing. */
  readonly failedToStale: number
  readonly failedToMissing: number
}

/** A change of the definition in the history. */
export interface StoredChange {
  readonly id: string
  /** ISO 8601, UTC. */
  readonly at: string
  /** Null for an edit of the files that was found, whoever made it. */
  readonly actor: string | null
  readonly note: string | null
  readonly reverts: string | null
  /** The accepted proposal whose change it is, and its proposer; null for none. */
  readonly proposal: AcceptedProposal | null
  /** The effect; null for an edit that was found. */
  readonly effect: DefinitionEffect | null
  /** The files that changed, in the order of their paths. */
  readonly files: readonly StoredFileChange[]
}

/** A file in the history. Hashes are hex SHA-256, null where there was no such file. */
export interface StoredFileChange {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

/** A change with the texts of its files. */
export interface ChangeTexts {
  readonly change: StoredChange
  readonly files: readonly ChangeText[]
}

/** The bytes of a file before and after a change; null also for a text that is no longer kept. */
export interface ChangeText extends StoredFileChange {
  readonly bytesBefore: Uint8Array | null
  readonly bytesAfter: Uint8Array | null
}
