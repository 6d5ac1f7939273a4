import type { JsonValue } from '../../contract/json/json.ts'
import { ValidationError } from '../../errors/service-error.ts'
import type { Verdict } from '../../store/stored-review.ts'
import { selectFields } from '../queries/select-fields.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { Sheet } from '../sheet.ts'
import { checkText } from './proposals.ts'

/** The most cells that a request reviews. */
export const MAX_REVIEWED = 100

export interface ReviewCellsRequest {
  readonly cells: readonly {
    readonly recordId: string
    readonly field: string
    /** The value that the reviewer saw; undefined to review any. */
    readonly seen?: JsonValue | undefined
  }[]
  /** Null ends the reviews of the cells. */
  readonly verdict: Verdict | null
  readonly note: string | null
  readonly actor: GivenActor
}

/** The number of reviewed cells, and the seq of the last line of the log. */
export interface ReviewReport {
  readonly reviewed: number
  readonly seq: number
}

/**
 * Approves or flags the values of cells, all or none, as lines of the log. A review ends when the cell gets another value or
 * another review. Throws ValidationError for no cells, too many, an unknown field, a note that is too long, and without an actor; SheetError for
 * a record that does not exist; ConflictError where a cell has another value than the reviewer saw.
 */
export async function reviewCells(sheet: Sheet, request: ReviewCellsRequest): Promise<ReviewReport> {
  const { verdict } = request
  const note = checkText('note', request.note)
  // A cell that is named twice is reviewed once.
  const cells = [
    ...new Map(request.cells.map((cell) => [JSON.stringify([cell.recordId, cell.field]), cell])).values(),
  ]
  if (cells.length === 0) throw new ValidationError('cells is empty; name the cells to review')
  if (cells.length > MAX_REVIEWED)
    throw new ValidationError(
      `${cells.length} cells are too many to review at once; name at most ${MAX_REVIEWED} in a request`,
      'too_many_items',
    )
  const actor = resolveActor(sheet, request.actor)
  const { contract, store } = await sheet.current()
  selectFields(contract, [...new Set(cells.map(({ field }) => field))])
  const seqs = await store.review({ cells, verdict, note, actor })
  return { reviewed: seqs.length, seq: seqs.at(-1) ?? 0 }
}
