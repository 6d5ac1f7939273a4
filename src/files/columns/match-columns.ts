import type { Contract } from '../../contract/contract.ts'
import { originalNames } from '../../contract/odcs/original-names.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'

export interface MatchOptions {
  /** The column with the ids; null for the column named `id`. */
  readonly key: string | null
  /** The fields of columns that do not follow from their names. */
  readonly given?: ReadonlyMap<string, string>
  /** Whether ids are generated, so that no column is `id`. */
  readonly withoutId: boolean
  /**
   * True prefers a field's own name to an original name if the other columns do not decide; false refuses such a
   * column.
   */
  readonly preferOwn: boolean
  /** The hint in messages about a column that could be `id`; null for none. */
  readonly idAdvice: string | null
}

/** Maps the columns of files to fields, by the fields' own names and their original ones. */
export class ColumnMatcher {
  readonly #contract: Contract
  readonly #options: MatchOptions
  /** The fields that have an original name. */
  readonly #owners = new Map<string, string[]>()

  constructor(contract: Contract, options: MatchOptions) {
    this.#contract = contract
    this.#options = options
    for (const [field, names] of originalNames(contract)) {
      for (const name of names) this.#owners.set(name, [...(this.#owners.get(name) ?? []), field])
    }
  }

  /** Whether every column can only be the field of its name. */
  get isPlain(): boolean {
    return this.#owners.size === 0 && this.#options.key === null && (this.#options.given?.size ?? 0) === 0
  }

  /**
   * Returns the field of each column; columns without a field are missing. A column that could be two fields is the
   * one that no other column must be. Throws ValidationError, beginning with `place`, for two columns of one field
   * and for a column that remains ambiguous.
   */
  match(columns: readonly string[], place: string): ReadonlyMap<string, string> {
    const open = new Map(columns.map((column) => [column, this.#candidates(column)] as const))
    const fieldOf = new Map<string, string>()
    const columnOf = new Map<string, string>()
    for (let settled = true; settled;) {
      settled = false
      for (const [column, candidates] of open) {
        const free = candidates.filter((field) => !columnOf.has(field) || candidates.length === 1)
        const [field] = free
        if (free.length > 1) continue
        open.delete(column)
        settled = true
        if (field === undefined) {
          if (candidates.length > 0) this.#refuseTaken(column, candidates, { columnOf, place })
          if (column === 'id') this.#refuseIds(place)
          continue
        }
        if (columnOf.has(field)) this.#refuseTaken(column, [field], { columnOf, place })
        fieldOf.set(column, field)
        columnOf.set(field, column)
      }
    }
    for (const [column, candidates] of open) {
      const free = candidates.filter((field) => !columnOf.has(field))
      const own = this.#options.preferOwn && free.includes(column) ? column : null
      if (own === null) this.#refuseAmbiguous(column, free, place)
      fieldOf.set(column, own)
      columnOf.set(own, column)
    }
    return fieldOf
  }

  #candidates(column: string): readonly string[] {
    const { key, given, withoutId } = this.#options
    if (column === key) return ['id']
    const asked = given?.get(column)
    if (asked !== undefined) return [asked]
    const own = this.#contract.fieldByName.has(column) ? [column] : []
    const all = [...new Set([...own, ...(this.#owners.get(column) ?? [])])]
    return withoutId ? all.filter((field) => field !== 'id') : all
  }

  #refuseTaken(
    column: string,
    candidates: readonly string[],
    { columnOf, place }: { readonly columnOf: ReadonlyMap<string, string>; readonly place: string },
  ): never {
    const [field = ''] = candidates
    const [first, second] = [columnOf.get(field) ?? '', column]
    const names = [first, second].map((name) => `${showValue(name)}${this.#why(name, field)}`).join(' and ')
    throw new ValidationError(
      `${place}: two columns are the field ${showValue(field)}: ${names}; take one of them out, or rename it`,
      'unknown_column',
    )
  }

  #refuseIds(place: string): never {
    throw new ValidationError(
      `${place} has a column "id", so that its records need no numbers; leave out --no-key, or the column`,
      'key_required',
    )
  }

  #why(column: string, field: string): string {
    if (column === this.#options.key) return ' (the key)'
    if (this.#options.given?.has(column) === true) return ''
    return column === field ? '' : ' (an original name of it)'
  }

  #refuseAmbiguous(column: string, fields: readonly string[], place: string): never {
    const names = fields.map((field) => showValue(field))
    const last = names.pop() ?? ''
    const { idAdvice } = this.#options
    const advice = fields.includes('id') && idAdvice !== null ? `${idAdvice}, or ` : ''
    throw new ValidationError(
      `${place}: the column ${showValue(column)} can be the field ${names.join(', ')} or ${last}; ${advice}rename it in the file`,
      'unknown_column',
    )
  }
}
