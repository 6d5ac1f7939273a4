import { randomUUID } from 'node:crypto'
import type { Contract } from '../../../contract/contract.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { ConflictError, SheetError } from '../../../errors/service-error.ts'
import { FieldLineages } from '../../fields/field-lineage.ts'
import { FIELD_CHANGES } from '../../fields/stored-changes.ts'
import { MOST_NAMED, type SavedNamed, type StoredNamed } from '../../named/named-store.ts'
import { deleteNamedRow, namedRows, writeNamed } from '../../rows/named-queries.ts'
import { load, type Steps } from '../steps.ts'
import type { StoreChange } from '../store-change.ts'
import type { NamedKind } from './named-kinds.ts'

type ReadTables = Pick<StoreChange['db'], 'query'>

/** The rules of a kind, whatever its states are. */
export type AnyKind = Omit<NamedKind<unknown>, 'present'>

/** Characters of an id: enough that none is used a second time, so that a link never leads to another view. */
const ID_LENGTH = 12

/** Returns what is stored of a kind; see {@link NamedStore.list}. */
export function* listNamed<State>(
  db: ReadTables,
  contract: Contract,
  { table, present }: NamedKind<State>,
): Steps<readonly StoredNamed<State>[]> {
  const rows = yield* load(db.query(namedRows<State>(table)))
  if (rows.length === 0) return []
  const lineages = new FieldLineages(yield* load(db.query(FIELD_CHANGES)))
  const all = rows.map(({ state, fieldsSeq, ...named }) => {
    const presentName = (name: string): string | null => {
      const now = lineages.presentOf(name, fieldsSeq)
      return now !== null && contract.fieldByName.has(now) ? now : null
    }
    return { ...named, state: present(state, presentName) }
  })
  return all.toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
}

/** Makes or replaces a view or a chart; see {@link NamedStore.save}. */
export function* saveNamed(
  { db, at }: StoreChange,
  kind: AnyKind,
  named: SavedNamed<unknown>,
): Steps<string> {
  const { noun, table } = kind
  const rows = yield* load(db.query(namedRows(table)))
  const { id, name } = named
  if (id !== null && !rows.some((row) => row.id === id)) throw unknown(kind, id)
  if (rows.some((row) => row.name === name && row.id !== id))
    throw new ConflictError(`a ${noun} is named ${showValue(name)} already; choose another name`, kind.exists)
  if (id === null && rows.length >= MOST_NAMED)
    throw new ConflictError(
      `the sheet has ${MOST_NAMED} ${noun}s, the most that it can have; delete some first`,
      kind.tooMany,
    )
  const own = id ?? randomUUID().replaceAll('-', '').slice(0, ID_LENGTH)
  yield* load(db.change(writeNamed(table, own, named, at)))
  return own
}

/** Deletes a view or a chart. Throws SheetError for an unknown id. */
export function* deleteNamed({ db }: StoreChange, kind: AnyKind, id: string): Steps<void> {
  const rows = yield* load(db.query(namedRows(kind.table)))
  if (!rows.some((row) => row.id === id)) throw unknown(kind, id)
  yield* load(db.change(deleteNamedRow(kind.table, id)))
}

function unknown({ noun, unknown: code }: AnyKind, id: string): SheetError {
  return new SheetError(`no ${noun} ${showValue(id)}`, code)
}
