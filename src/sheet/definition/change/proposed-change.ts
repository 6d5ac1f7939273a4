import { lineChanges, type LineChange } from '../../../contract/edit/line-changes.ts'
import type { Derivation, Resource } from '../../../derivation/definition/derivation-kind.ts'
import { PreconditionFailedError, ContractError } from '../../../errors/service-error.ts'
import type { AcceptedProposal } from '../../../provenance/log-line.ts'
import type { ProposedDefinition } from '../../../store/stored-proposal.ts'
import type { DefinitionBase, Sheet } from '../../sheet.ts'
import { secretsIn } from '../secrets-in.ts'
import { changeDefinition, otherPaths, versionOf, type DefinitionReport } from './change-definition.ts'
import { toEdit } from './proposed-edit.ts'

/** A proposed change of the definition, as a person sees it. */
export interface DefinitionDifference {
  readonly files: readonly FileDifference[]
  /** The lines of the files that differ from the texts when it was proposed. */
  readonly edits: readonly LineChange[]
  /** The id of the change that it takes back; null for none. */
  readonly reverts: string | null
}

export interface FileDifference {
  readonly path: string
  /** The text when it was proposed; null where there was no such file. */
  readonly before: string | null
  /** The proposed text; null removes the file. */
  readonly after: string | null
  /** Whether the file has changed since, so that the proposal cannot be accepted. */
  readonly moved: boolean
}

/** The effect of accepting a proposal on the present state of the sheet. */
export interface ProposalPlan extends DefinitionReport {
  /** The hosts, files, sheets and programs that derivations use with it, and do not use now. */
  readonly resources: readonly Resource[]
  /** The environment variables that its placeholders name, and those of the present files do not. */
  readonly secrets: readonly string[]
}

/** The options with which a person accepts a proposed change. */
export interface Acceptance {
  readonly actor: string
  readonly note: string | null
  /** The numbers of values that may be lost, in place of those of the proposal, by the names of removed fields. */
  readonly confirm: ReadonlyMap<string, number>
}

/** Compares a proposed change with the present files, or as decided with those of its time. */
export async function definitionDifference(
  sheet: Sheet,
  { files: proposed, reverts }: ProposedDefinition,
  isWaiting: boolean,
): Promise<DefinitionDifference> {
  const texts = await presentTexts(sheet, proposed)
  return {
    files: proposed.map((file) => ({ ...file, moved: isWaiting && hasMoved(file, texts) })),
    edits: proposed.flatMap(({ path, before, after }) => lineChanges(path, before ?? '', after ?? '')),
    reverts,
  }
}

async function presentTexts(
  sheet: Sheet,
  files: ProposedDefinition['files'],
): Promise<ReadonlyMap<string, Uint8Array>> {
  return (await sheet.definition()).files.texts(otherPaths(files))
}

function hasMoved(
  { path, before }: ProposedDefinition['files'][number],
  texts: ReadonlyMap<string, Uint8Array>,
): boolean {
  const then = before === null ? null : Buffer.from(before)
  return versionOf(texts.get(path) ?? null) !== versionOf(then)
}

/**
 * Returns the effect that accepting a proposed change would have now. Changes nothing. Throws as {@link changeDefinition} does, also
 * PreconditionFailedError where a file has changed since.
 */
export async function planProposed(
  sheet: Sheet,
  proposed: ProposedDefinition,
  actor: string,
): Promise<ProposalPlan> {
  const edit = toEdit(proposed, new Map())
  const tried = await changeDefinition(sheet, { ...edit, actor, dryRun: true })
  // The person who accepts confirms what the plan says is lost.
  const confirm = new Map(
    tried.fields.fields.flatMap(({ change, field, lost }) =>
      change === 'removed' ? [[field, lost] as const] : [],
    ),
  )
  const isRefused = tried.fields.conflicts.length > 0
  const report = isRefused
    ? await changeDefinition(sheet, { ...toEdit(proposed, confirm), actor, dryRun: true })
    : tried
  const { files } = await sheet.definition()
  const changes = new Map(edit.files.map(({ path, bytes }) => [path, bytes]))
  const [before, after] = [await derivationsOf(files, new Map()), await derivationsOf(files, changes)]
  const known = new Set(before.flatMap(({ resources }) => resources).map(keyOf))
  const added = new Map(
    after.flatMap(({ resources }) => resources).map((resource) => [keyOf(resource), resource]),
  )
  const named = new Set(before.flatMap(({ text }) => secretsIn(text)))
  return {
    ...report,
    resources: [...added].flatMap(([key, resource]) => (known.has(key) ? [] : [resource])),
    secrets: [...new Set(after.flatMap(({ text }) => secretsIn(text)))].filter((name) => !named.has(name)),
  }
}

function keyOf({ type, name }: Resource): string {
  return `${type} ${name}`
}

/** Returns the derivations of changed files; none where they are not valid. */
async function derivationsOf(
  files: DefinitionBase['files'],
  changes: ReadonlyMap<string, Uint8Array | null>,
): Promise<readonly Derivation[]> {
  try {
    const changed = files.withChanges(changes)
    return (await changed.derivations(changed.contract())).levels.flat()
  } catch (error) {
    if (error instanceof ContractError) return []
    throw error
  }
}

/**
 * Carries out a proposed change as the actor who accepts it, together with the decision. Throws as {@link changeDefinition} does; where a
 * file has changed since the proposal, PreconditionFailedError.
 */
export async function acceptProposed(
  sheet: Sheet,
  proposed: ProposedDefinition,
  { confirm, ...acceptance }: Acceptance & { readonly proposal: AcceptedProposal },
): Promise<void> {
  try {
    await changeDefinition(sheet, { ...toEdit(proposed, confirm), ...acceptance })
  } catch (error) {
    if (!(error instanceof PreconditionFailedError)) throw error
    throw movedSince(acceptance.proposal.id, proposed.files, await presentTexts(sheet, proposed.files))
  }
}

/** Returns the error of a proposal whose files are not as they were when it was made. */
function movedSince(
  id: string,
  files: ProposedDefinition['files'],
  texts: ReadonlyMap<string, Uint8Array>,
): PreconditionFailedError {
  const moved = files
    .filter((file) => hasMoved(file, texts))
    .map(({ path, before }) => {
      if (!texts.has(path)) return `${path} was removed`
      return before === null ? `${path} was created` : `${path} has changed`
    })
  const since = moved.length === 0 ? 'a file has changed' : moved.join(', ')
  return new PreconditionFailedError(
    `proposal ${id} cannot be accepted, and nothing was changed: ${since} since it was made; reject it, and have it proposed again for the present files`,
  )
}
