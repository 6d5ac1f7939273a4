import { showValue } from '../../contract/json/show-value.ts'
import { textError } from '../../contract/values/value-structure.ts'
import type { CodeOf } from '../../errors/codes.ts'
import { SheetError, ValidationError } from '../../errors/service-error.ts'
import type { Named, NamedStore, StoredNamed } from '../../store/named/named-store.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { Sheet } from '../sheet.ts'

const MAX_NAME_LENGTH = 100

export interface SaveRequest<State> extends Named<State> {
  /** The id of what is replaced; null makes a new one. */
  readonly id: string | null
  /** Null for the sheet's default actor. */
  readonly actor: GivenActor
}

interface Kept<State> {
  readonly store: NamedStore<State>
  readonly noun: 'view' | 'chart'
  /** The error of an id that does not exist. */
  readonly unknown: CodeOf<'SheetError'>
}

/** Makes or replaces a view or a chart, and returns it. Throws ValidationError for a bad name, and what {@link NamedStore.save} throws. */
export async function saveNamed<State>(
  sheet: Sheet,
  { store, noun, unknown }: Kept<State>,
  { id, name, state, actor }: SaveRequest<State>,
): Promise<StoredNamed<State>> {
  const trimmed = name.trim()
  const fault = textError(trimmed)
  if (fault !== null || trimmed === '' || trimmed.length > MAX_NAME_LENGTH)
    throw new ValidationError(
      `the name of a ${noun} must have 1 to ${MAX_NAME_LENGTH} characters, got ${showValue(name)}${fault === null ? '' : `: ${fault}`}`,
      'out_of_range',
    )
  const saved = await store.save({ id, name: trimmed, state, actor: resolveActor(sheet, actor) })
  const found = (await store.list()).find((each) => each.id === saved)
  // Someone else has deleted it meanwhile.
  if (found === undefined) throw new SheetError(`no ${noun} ${showValue(saved)}`, unknown)
  return found
}
