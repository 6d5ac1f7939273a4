import { nestsTooDeep } from '../../contract/json/json-depth.ts'
import { ValidationError } from '../../errors/service-error.ts'
import type { StoredNamed } from '../../store/named/named-store.ts'
import type { ViewState } from '../../store/named/stored-view.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import { saveNamed, type SaveRequest } from './save-named.ts'
import type { Sheet } from '../sheet.ts'

export type StoredView = StoredNamed<ViewState>
export type SaveViewRequest = SaveRequest<ViewState>

/** The most characters of the JSON of a view. */
const MAX_VIEW_LENGTH = 100_000

/** Returns all views by name, with the present names of fields. */
export async function listViews(sheet: Sheet): Promise<readonly StoredView[]> {
  const { store } = await sheet.current()
  return store.views.list()
}

/**
 * Makes or replaces a view, and returns it. Throws ValidationError for a name or a content that cannot be stored, SheetError for
 * an unknown id, ConflictError for a name that another view has, and for too many views.
 */
export async function saveView(sheet: Sheet, request: SaveViewRequest): Promise<StoredView> {
  checkState(request.state)
  const { store } = await sheet.current()
  return saveNamed(sheet, { store: store.views, noun: 'view', unknown: 'unknown_view' }, request)
}

/** Deletes a view. Throws SheetError for an unknown id. */
export async function deleteView(sheet: Sheet, id: string, actor: GivenActor): Promise<void> {
  const { store } = await sheet.current()
  resolveActor(sheet, actor)
  await store.views.delete(id)
}

function checkState(state: ViewState): void {
  const length = nestsTooDeep(state) ? Infinity : JSON.stringify(state).length
  if (length <= MAX_VIEW_LENGTH) return
  throw new ValidationError(
    `a view has at most ${MAX_VIEW_LENGTH} characters of JSON, got ${length}`,
    'out_of_range',
  )
}
