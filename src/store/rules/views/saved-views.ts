import { randomUUID } from 'node:crypto'
import type { Contract } from '../../../contract/contract.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { ConflictError, SheetError } from '../../../errors/service-error.ts'
import { FieldLineages } from '../../fields/field-lineage.ts'
import { presentView } from './present-view.ts'
import { FIELD_CHANGES } from '../../fields/stored-changes.ts'
import { deleteViewRow, VIEWS, writeView } from '../../rows/view-queries.ts'
import { MOST_VIEWS, type SavedView, type StoredView } from '../../stored-view.ts'
import { load, type Steps } from '../steps.ts'
import type { StoreChange } from '../store-change.ts'

type ReadTables = Pick<StoreChange['db'], 'query'>

/** Characters of an id: enough that none is used a second time, so that a link never leads to another view. */
const ID_LENGTH = 12

/** Returns the views; see {@link ViewStore.list}. */
export function* listViews(db: ReadTables, contract: Contract): Steps<readonly StoredView[]> {
  const rows = yield* load(db.query(VIEWS))
  if (rows.length === 0) return []
  const lineages = new FieldLineages(yield* load(db.query(FIELD_CHANGES)))
  const views = rows.map(({ state, fieldsSeq, ...view }) => {
    const present = (name: string): string | null => {
      const now = lineages.presentOf(name, fieldsSeq)
      return now !== null && contract.fieldByName.has(now) ? now : null
    }
    return { ...view, state: presentView(state, present) }
  })
  return views.toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
}

/** Makes or replaces a view; see {@link ViewStore.save}. */
export function* saveView({ db, at }: StoreChange, view: SavedView): Steps<string> {
  const rows = yield* load(db.query(VIEWS))
  const { id, name } = view
  if (id !== null && !rows.some((row) => row.id === id)) throw unknownView(id)
  if (rows.some((row) => row.name === name && row.id !== id))
    throw new ConflictError(`a view is named ${showValue(name)} already; choose another name`, 'view_exists')
  if (id === null && rows.length >= MOST_VIEWS)
    throw new ConflictError(
      `the sheet has ${MOST_VIEWS} views, the most that it can have; delete some first`,
      'too_many_views',
    )
  const own = id ?? randomUUID().replaceAll('-', '').slice(0, ID_LENGTH)
  yield* load(db.change(writeView(own, view, at)))
  return own
}

/** Deletes a view. Throws SheetError for an unknown id. */
export function* deleteView({ db }: StoreChange, id: string): Steps<void> {
  const rows = yield* load(db.query(VIEWS))
  if (!rows.some((row) => row.id === id)) throw unknownView(id)
  yield* load(db.change(deleteViewRow(id)))
}

function unknownView(id: string): SheetError {
  return new SheetError(`no view ${showValue(id)}`, 'unknown_view')
}
