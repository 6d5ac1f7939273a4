import { createHash } from 'node:crypto'
import { showValue } from '../../../contract/json/show-value.ts'
import { checkFileSize } from '../../../contract/yaml/yaml-limits.ts'
import {
  ContractError,
  OperationError,
  PermissionDeniedError,
  PreconditionFailedError,
  ValidationError,
} from '../../../errors/service-error.ts'
import type { BaseFile, ChangedFile, DefinitionEffect } from '../../../store/definition-change.ts'
import type { FieldChanges } from '../../../store/field-changes.ts'
import type { AcceptedProposal } from '../../../provenance/log-line.ts'
import { OutdatedDefinitionError } from '../../../store/revision-store.ts'
import { resolveActor, type GivenActor } from '../../resolve-actor.ts'
import type { RunPlan } from '../../../derivation/run-request.ts'
import type { DefinitionBase, Sheet } from '../../sheet.ts'
import { nothingToPropose } from '../../../store/rules/proposal-rules.ts'
import type { ProposalId } from '../../../store/stored-proposal.ts'
import { toProposedDefinition } from './proposed-edit.ts'
import { targetDefinitions } from '../definition-files.ts'
import { outdatedAfter } from './count-outdated.ts'
import { planRecomputing } from './plan-recomputing.ts'

/** The new text of a definition file. */
export interface FileEdit {
  /** `contract.yaml`, `derivations/<name>.yaml`, or for another name of a field the present file of a prompt. */
  readonly path: string
  /** Null removes the file. */
  readonly bytes: Uint8Array | null
  /** The versions, hex SHA-256, of which the present file must have one; `*` for any file; null for no condition. */
  readonly ifMatch: readonly string[] | '*' | null
  /** Whether there must be no such file yet. */
  readonly ifAbsent?: boolean
}

/** The changes of fields that a request asks for, without their actor. */
export type FieldRequests = Omit<FieldChanges, 'actor'>

/** A change of definition files, all or none of them. */
export interface DefinitionEdit {
  readonly files: readonly FileEdit[]
  readonly actor: GivenActor
  /** The description of the change, for the history; null for none. */
  readonly note?: string | null
  /** Renamed, removed and converted fields; without them such a contract is refused. */
  readonly changes?: FieldRequests
  /** The id of the change that this one takes back. */
  readonly reverts?: string | null
  /** Whether nothing is changed and only the effect is returned. */
  readonly dryRun?: boolean
  /** Ends a dry run that waits for its turn, or has not planned yet what recomputing costs: its caller has left. A change is not ended. */
  readonly signal?: AbortSignal | undefined
  /** Whether it becomes a proposal, which somebody else accepts; by default it is carried out. */
  readonly proposes?: boolean
  /** The waiting proposal that the actor accepts with it, and its proposer; null for none. */
  readonly proposal?: AcceptedProposal | null
}

/** The effect of a change, and the versions of its files. */
export interface DefinitionReport extends DefinitionEffect {
  readonly dryRun: boolean
  /** The files that differ; none where the request changes nothing. */
  readonly files: readonly FileVersions[]
  /** The id of the proposal that it has become; null where it was carried out or only tried. */
  readonly proposed: ProposalId | null
  /**
   * With a dry run the plan of the run that would compute the cells that become stale or missing, see {@link planRecomputing}; null where it is
   * not known. Absent for a change that is carried out, or refused.
   */
  readonly recomputing?: RunPlan | null
}

/** A file that a change concerns; the versions are hex SHA-256, null where there is no file. */
export interface FileVersions {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

const NO_EFFECT = { seq: null, fields: [], conflicts: [] }

const NOTHING_TO_COMPUTE: RunPlan = { targets: {}, calls: 0, cost: 0, atMost: false }

/** Attempts while others change the definition at the same time. */
const TRIES = 10

/**
 * Changes definition files of a sheet: the files, the store that follows them and the history together, or nothing. A dry run
 * returns the same effect and changes nothing. Throws PermissionDeniedError where the service may not change the definition,
 * PreconditionFailedError for a file of another version, and OperationError, with the message that an edit of the file would
 * give, where the definition would not be valid or the stored records do not allow it. A change that is proposed is tried, and throws
 * as the change does; then OperationError where it changes nothing, and ConflictError where too many proposals wait.
 */
export async function changeDefinition(sheet: Sheet, edit: DefinitionEdit): Promise<DefinitionReport> {
  checkMayChange(sheet)
  return sheet.changingDefinition(() => changeInTurn(sheet, edit))
}

/** Changes the definition as {@link changeDefinition} does, within {@link Sheet.changingDefinition}. */
export async function changeInTurn(sheet: Sheet, edit: DefinitionEdit): Promise<DefinitionReport> {
  checkNote(edit.note ?? null)
  const actor = resolveActor(sheet, edit.actor)
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(sheet, edit, actor)
    } catch (error) {
      if (error instanceof ContractError) throw refusalOf(edit, error)
      // The conditions on versions are checked again on the definition of by then.
      if (!(error instanceof OutdatedDefinitionError) || tries === TRIES) throw error
    }
  }
}

/** Throws PermissionDeniedError where the service may not change the definition. */
export function checkMayChange(sheet: Sheet): void {
  if (!sheet.hasFixedDefinition) return
  throw new PermissionDeniedError(
    'the definition of this sheet is read-only here: the service was started with --read-only-definition; edit the files instead',
    'definition_fixed',
  )
}

/** Throws ValidationError for characters that no store keeps. */
function checkNote(note: string | null): void {
  if (note === null || (note.isWellFormed() && !note.includes('\0'))) return
  throw new ValidationError('"note" must not contain lone surrogates or U+0000')
}

async function attempt(sheet: Sheet, edit: DefinitionEdit, actor: string): Promise<DefinitionReport> {
  const { note = null, reverts = null, proposal = null, proposes = false } = edit
  const dryRun = edit.dryRun === true || proposes
  const checkCaller = (): void => {
    if (dryRun) edit.signal?.throwIfAborted()
  }
  checkCaller()
  const { store, files } = await sheet.definition()
  // With the texts, before anything waits: another request may meanwhile read the files of a newer revision.
  const { revision } = files
  const texts = files.texts(otherPaths(edit.files))
  const changed = edit.files.flatMap((file) => changedFile(file, texts))
  const versions = changed.map(({ path, before, after }) => ({
    path,
    before: versionOf(before),
    after: versionOf(after),
  }))
  if (changed.length === 0) {
    if (proposes && edit.dryRun !== true) throw nothingToPropose('definition')
    const { total } = await store.status()
    return {
      id: null,
      records: total,
      fields: NO_EFFECT,
      targets: [],
      dryRun,
      files: versions,
      proposed: null,
      ...(dryRun && { recomputing: NOTHING_TO_COMPUTE }),
    }
  }
  const after = files.withChanges(new Map(changed.map(({ path, after: bytes }) => [path, bytes])))
  const contract = after.contract()
  const derivations = await after.derivations(contract)
  const outdated = await outdatedAfter(sheet, derivations, edit.changes)
  const commit = store.changeDefinition({
    definition: {
      contract,
      targets: targetDefinitions(derivations),
      ...(edit.changes !== undefined && { changes: { ...edit.changes, actor, proposal } }),
      ...(revision !== null && { revision }),
    },
    files: changed,
    base: baseOf(texts, changed),
    present: Array.from(texts, ([path, bytes]) => ({ path, bytes })),
    outdated,
    formulas: derivations.levels.flat().flatMap(({ formulas }) => formulas),
    actor,
    note,
    reverts,
    proposal,
    dryRun,
  })
  const effect = await (dryRun ? commit : sheet.whileCommitting(commit))
  // The next operation has the new definition, also where it only reads.
  if (!dryRun) await sheet.definition()
  checkCaller()
  const isPlanned = dryRun && effect.fields.conflicts.length === 0
  const recomputing = isPlanned
    ? await planRecomputing(sheet, store, { contract, derivations, changes: edit.changes, effect })
    : undefined
  const report = {
    ...effect,
    dryRun,
    files: versions,
    proposed: null,
    ...(recomputing !== undefined && { recomputing }),
  }
  if (!proposes || edit.dryRun === true) return report
  const [conflict] = effect.fields.conflicts
  if (conflict !== undefined) throw new OperationError(conflict, 'definition_refused')
  const definition = toProposedDefinition({ files: changed, changes: edit.changes ?? null, reverts })
  const proposed = await store.proposals.propose({ change: { definition }, actor, note })
  return { ...report, proposed }
}

/** Returns the paths of the files of a change that are neither the contract nor derivations: those of prompts. */
export function otherPaths(files: readonly { readonly path: string }[]): readonly string[] {
  return files.flatMap(({ path }) =>
    path === 'contract.yaml' || path.startsWith('derivations/') ? [] : [path],
  )
}

/** Returns the change of a file; nothing where the text stays. Throws PreconditionFailedError for another version. */
function changedFile(
  { path, bytes, ifMatch, ifAbsent = false }: FileEdit,
  texts: ReadonlyMap<string, Uint8Array>,
): readonly ChangedFile[] {
  const before = texts.get(path) ?? null
  if (ifAbsent && before !== null) {
    throw new PreconditionFailedError(
      `${path} exists already, and If-None-Match requires that it does not; nothing was changed`,
    )
  }
  checkVersion(path, before, ifMatch)
  if (bytes !== null) {
    checkFileSize(bytes.length, path)
    if (before === null) checkNewName(path, texts)
  }
  const isSame = before === null || bytes === null ? before === bytes : Buffer.compare(before, bytes) === 0
  return isSame ? [] : [{ path, before, after: bytes }]
}

/** Throws PreconditionFailedError for a file whose version is none of these; null checks nothing. */
export function checkVersion(path: string, before: Uint8Array | null, ifMatch: FileEdit['ifMatch']): void {
  if (ifMatch === null) return
  const version = versionOf(before)
  const holds = version !== null && (ifMatch === '*' || ifMatch.includes(version))
  if (holds) return
  throw new PreconditionFailedError(
    version === null
      ? `${path} does not exist, and If-Match requires that it does; nothing was changed`
      : `${path} has changed since it was read, and nothing was changed; read it again, and use its present version`,
  )
}

/** Some file systems do not distinguish names by case, and one file would replace the other. */
function checkNewName(path: string, texts: ReadonlyMap<string, Uint8Array>): void {
  const folded = fold(path)
  const other = [...texts.keys()].find((known) => fold(known) === folded)
  if (other === undefined) return
  throw new OperationError(
    `there is a file ${showValue(other)}, whose name differs only in case or form; choose another name`,
    'definition_refused',
  )
}

function fold(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

function baseOf(texts: DefinitionBaseTexts, changed: readonly ChangedFile[]): readonly BaseFile[] {
  return [
    ...[...texts].map(([path, bytes]) => ({ path, sha256: versionOf(bytes) })),
    ...changed.filter(({ before }) => before === null).map(({ path }) => ({ path, sha256: null })),
  ]
}

type DefinitionBaseTexts = ReturnType<DefinitionBase['files']['texts']>

/** Returns the version of a definition file: the hex SHA-256 of its bytes; null where there is none. */
export function versionOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : createHash('sha256').update(bytes).digest('hex')
}

/** Returns the error of a change, which says so where it is about a derivation file that the change leaves as it is. */
function refusalOf({ files }: DefinitionEdit, error: ContractError): OperationError {
  const { message, inFile } = error
  const isOther =
    inFile?.file.startsWith('derivations/') === true && files.every(({ path }) => path !== inFile.file)
  if (!isOther) return refusal(error)
  const hint = 'the change leaves this file as it is; edit or remove it too, or before'
  return new OperationError(`${message} (${hint})`, 'definition_refused', { inFile })
}

/** Returns the error of a definition that the request would make invalid, which is the request's fault. */
export function refusal({ message, inFile }: ContractError): OperationError {
  return new OperationError(message, 'definition_refused', { inFile })
}
