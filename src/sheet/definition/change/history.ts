import type { Contract } from '../../../contract/contract.ts'
import { parseContract } from '../../../contract/odcs/parse-contract.ts'
import { ConflictError, OperationError, SheetError } from '../../../errors/service-error.ts'
import type { ChangeTexts, StoredChange } from '../../../store/definition-change.ts'
import { openCursor, signCursor } from '../../cursor.ts'
import { pageLimit } from '../../page-limit.ts'
import type { GivenActor } from '../../resolve-actor.ts'
import type { Sheet } from '../../sheet.ts'
import { validOrNull } from '../valid-or-null.ts'
import {
  changeInTurn,
  checkMayChange,
  otherPaths,
  versionOf,
  type DefinitionReport,
  type FieldRequests,
  type FileEdit,
} from './change-definition.ts'

/** A page of the history. */
export interface ChangeList {
  readonly changes: readonly StoredChange[]
  readonly nextCursor: string | null
}

/** The most changes on a page: each can concern many files. */
const MAX_CHANGES = 200

const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

const SCOPE = 'definition changes'

/** Lists the changes of the definition, newest first. Throws ValidationError for a bad limit or cursor. */
export async function listChanges(
  sheet: Sheet,
  { limit: asked, cursor }: { readonly limit: number | null; readonly cursor: string | null },
): Promise<ChangeList> {
  const limit = Math.min(pageLimit(asked), MAX_CHANGES)
  const { store } = await sheet.definition()
  const before = cursor === null ? null : String(openCursor(store.cursorKey, cursor, SCOPE))
  const found = await store.definitionChanges({ before, limit: limit + 1 })
  const changes = found.slice(0, limit)
  const last = found.length > limit ? changes.at(-1) : undefined
  return {
    changes,
    nextCursor: last === undefined ? null : signCursor(store.cursorKey, Number(last.id), SCOPE),
  }
}

/** Reads a change with the texts of its files. Throws SheetError for an unknown one. */
export async function readChange(sheet: Sheet, id: string): Promise<ChangeTexts> {
  const { store } = await sheet.definition()
  const found = await store.definitionChange(id)
  if (found !== null) return found
  throw new SheetError(
    `no change ${JSON.stringify(id.slice(0, 100))} of the definition; the history lists them`,
    'unknown_change',
  )
}

/** A request to take back a change. */
export interface ChangeRevert {
  readonly change: string
  readonly actor: GivenActor
  readonly note: string | null
  /** The numbers of values that may be lost, by the names of fields that the change had added. */
  readonly confirm: ReadonlyMap<string, number>
  readonly dryRun: boolean
  /** See {@link DefinitionEdit.signal}. */
  readonly signal?: AbortSignal | undefined
  /** See {@link DefinitionEdit.proposes}. */
  readonly proposes?: boolean
}

/**
 * Takes back a change of the definition: its files get the texts from before, renamed fields their names, and removed and converted
 * fields their values. It is a change itself, and can be taken back. Throws SheetError for an unknown change, ConflictError where a file
 * was changed again since, OperationError where a text is no longer kept, and as {@link changeDefinition} does.
 */
export async function revertChange(sheet: Sheet, revert: ChangeRevert): Promise<DefinitionReport> {
  checkMayChange(sheet)
  return sheet.changingDefinition(() => revertInTurn(sheet, revert))
}

async function revertInTurn(
  sheet: Sheet,
  { change: id, confirm, ...request }: ChangeRevert,
): Promise<DefinitionReport> {
  const found = await readChange(sheet, id)
  const { files } = await sheet.definition()
  const texts = files.texts(otherPaths(found.files))
  const edits = found.files.map((file): FileEdit => {
    const { path, before, after, bytesBefore } = file
    const present = texts.get(path) ?? null
    if (!hasVersion(present, after)) throw changedSince(path, id)
    if (before !== null && bytesBefore === null) {
      throw new OperationError(
        `the text of ${path} before change ${id} is no longer kept; the history keeps the latest 32 MiB of texts`,
        'history_not_kept',
      )
    }
    return { path, bytes: bytesBefore, ifMatch: present === null ? null : [versionOf(present) as string] }
  })
  const changes = fieldsBack(found, confirm)
  return changeInTurn(sheet, {
    ...request,
    files: edits,
    reverts: id,
    ...(changes !== null && { changes }),
  })
}

/** Whether a file has a version of the history, which has edits by hand without a byte order mark. */
function hasVersion(present: Uint8Array | null, version: string | null): boolean {
  if (versionOf(present) === version) return true
  const isMarked = present !== null && Buffer.from(present.subarray(0, 3)).equals(BYTE_ORDER_MARK)
  return isMarked && versionOf(present.subarray(3)) === version
}

function changedSince(path: string, id: string): ConflictError {
  return new ConflictError(
    `${path} was changed again after change ${id}; take the later changes back first, or edit the file`,
    'change_outdated',
  )
}

/** Returns the changes of fields that take those of a change back; null where the contract stays. */
function fieldsBack(
  { change, files }: ChangeTexts,
  confirm: ReadonlyMap<string, number>,
): FieldRequests | null {
  const file = files.find(({ path }) => path === 'contract.yaml')
  if (file === undefined) return null
  const [earlier, present] = [contractOf(file.bytesBefore), contractOf(file.bytesAfter)]
  if (earlier === null || present === null) return null
  const effect = change.effect?.fields ?? null
  const renamed = new Map(
    (effect?.fields ?? []).flatMap(({ change: kind, field, before }) =>
      // A converted field may have another name too.
      (kind === 'renamed' || kind === 'converted') && before !== null && before !== field
        ? [[field, before] as const]
        : [],
    ),
  )
  const gone = present.fields.filter(({ name }) => !earlier.fieldByName.has(renamed.get(name) ?? name))
  const restored = new Map(
    (effect?.fields ?? []).flatMap(({ change: kind, field, before }) => {
      if (effect === null || effect.seq === null || (kind !== 'removed' && kind !== 'converted')) return []
      return [[before ?? field, effect.seq] as const]
    }),
  )
  const retyped = earlier.fields.filter((field) => {
    const now = present.fields.find(({ name }) => (renamed.get(name) ?? name) === field.name)
    return now !== undefined && now.type !== field.type
  })
  return {
    renamed,
    removed: new Map(gone.map(({ name }) => [name, confirm.get(name) ?? null])),
    converted: new Map(retyped.map(({ name }) => [name, { onInvalid: 'refuse' }])),
    restored,
  }
}

/** Returns the contract of a text; null for one that is missing or not valid. */
function contractOf(bytes: Uint8Array | null): Contract | null {
  return bytes === null ? null : validOrNull(() => parseContract(Buffer.from(bytes).toString()))
}
