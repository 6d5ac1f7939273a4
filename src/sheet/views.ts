import { nestsTooDeep } from '../contract/json/json-depth.ts'
import { showValue } from '../contract/json/show-value.ts'
import { textError } from '../contract/values/value-structure.ts'
import { SheetError, ValidationError } from '../errors/service-error.ts'
import type { StoredView, View } from '../store/stored-view.ts'
import { resolveActor, type GivenActor } from './resolve-actor.ts'
import type { Sheet } from './sheet.ts'

export type { StoredView } from '../store/stored-view.ts'

/** The most characters of the JSON of a view. */
const MAX_VIEW_LENGTH = 100_000

const MAX_NAME_LENGTH = 100

export interface SaveViewRequest extends View {
  /** The id of the view to replace; null makes a view. */
  readonly id: string | null
  /** Null for the sheet's default actor. */
  readonly actor: GivenActor
}

/** Returns all views by name, with the present names of fields. */
export async function listViews(sheet: Sheet): Promise<readonly StoredView[]> {
  const { store } = await sheet.current()
  return store.views.list()
}

/**
 * Makes or replaces a view, and returns it. Throws ValidationError for a name or a content that cannot be stored, SheetError for
 * an unknown id, ConflictError for a name that another view has, and for too many views.
 */
export async function saveView(
  sheet: Sheet,
  { id, name, state, actor }: SaveViewRequest,
): Promise<StoredView> {
  const trimmed = name.trim()
  const fault = textError(trimmed)
  if (fault !== null || trimmed === '' || trimmed.length > MAX_NAME_LENGTH)
    throw new ValidationError(
      `the name of a view must have 1 to ${MAX_NAME_LENGTH} characters, got ${showValue(name)}${fault === null ? '' : `: ${fault}`}`,
      'out_of_range',
    )
  checkState(state)
  const { store } = await sheet.current()
  const saved = await store.views.save({ id, name: trimmed, state, actor: resolveActor(sheet, actor) })
  const view = (await store.views.list()).find((each) => each.id === saved)
  if (view === undefined) throw new SheetError(`no view ${showValue(saved)}`, 'unknown_view')
  return view
}

/** Deletes a view. Throws SheetError for an unknown id. */
export async function deleteView(sheet: Sheet, id: string, actor: GivenActor): Promise<void> {
  const { store } = await sheet.current()
  resolveActor(sheet, actor)
  await store.views.delete(id)
}

function checkState(state: View['state']): void {
  const length = nestsTooDeep(state) ? Infinity : JSON.stringify(state).length
  if (length <= MAX_VIEW_LENGTH) return
  throw new ValidationError(
    `a view has at most ${MAX_VIEW_LENGTH} characters of JSON, got ${length}`,
    'out_of_range',
  )
}
