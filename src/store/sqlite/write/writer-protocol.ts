import type { SetAside } from '../../../provenance/set-aside.ts'
import type { BaseFile, DefinitionEffect } from '../../definition-change.ts'
import type { Erasure, EraseRequest } from '../../erasure.ts'
import type { FieldsEffect } from '../../field-changes.ts'
import type { NewCheckpoint } from '../../log-tree-store.ts'
import type { TakenOver } from '../../rules/log/take-over.ts'
import type { DefinitionChange, Upsert, UpsertTrial } from '../../sheet-store.ts'
import type { DefinitionRequest } from '../definition/apply-contract.ts'
import type { ThreadResponse, ThreadRequest } from '../database/thread-client.ts'
import type { Changes } from './changes.ts'

/** The operations of the writing thread that run alone. */
export interface ExclusiveOperations {
  open(request: OpenRequest): OpenResult
  define(request: DefineRequest): FieldsEffect
  changeDefinition(request: ChangeDefinitionRequest): ChangedDefinition
  tryUpsert(request: Upsert): UpsertTrial
  addCheckpoint(request: NewCheckpoint): boolean
  erase(request: EraseRequest): Erasure
  close(request: null): void
}

/** The operations of the writing thread. */
export type WriterOperations = Changes & ExclusiveOperations

export interface DefineRequest extends DefinitionRequest {
  readonly contractText: string
  /** See {@link StoreDefinition.base}. */
  readonly base?: readonly BaseFile[]
}

/** A change of the definition as plain data. */
export interface ChangeDefinitionRequest extends Omit<DefinitionChange, 'definition' | 'formulas'> {
  readonly define: DefineRequest
}

export interface ChangedDefinition {
  readonly effect: DefinitionEffect
  /** The files that were edited at the same moment, and stay as they are. */
  readonly edited: readonly string[]
}

export interface OpenRequest {
  readonly directory: string
  /** Null leaves an existing store with the definition that it follows. */
  readonly define: DefineRequest | null
  /** The actor of the import of `records.jsonl` into a new store. */
  readonly actor: string
  readonly lockTimeoutMs: number
}

export interface OpenResult {
  readonly cursorKey: Uint8Array
  /** Whether `records.jsonl` is another file than the one that was imported (D2). */
  readonly sourceDiffers: boolean
  /** The contract that the store follows. */
  readonly contractText: string
}

/** The lines of another copy of the sheet that were taken over. */
export interface TakenLines extends TakenOver {
  /** Checkpoints of the other copy that do not hold for this log. */
  readonly leftCheckpoints: number
}

export type WriterOperation = keyof WriterOperations

/** A request to the writing thread. */
export type WriterRequest = ThreadRequest<WriterOperation>

/**
 * A message of the writing thread: responses, those of one commit together; lines moved out of the log, which the store
 * does not have; or the number of lines that were written since the last such message.
 */
export type WriterMessage =
  | readonly ThreadResponse[]
  | { readonly setAside: SetAside }
  | { readonly takenOver: TakenLines }
  | { readonly lines: number }
